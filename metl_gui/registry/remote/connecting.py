"""Which API a registry speaks, by its address, by what a profile says, or by asking it."""

from __future__ import annotations

from urllib.parse import urlsplit

from metl_gui.errors import AwayError, SchemaError
from metl_gui.registry.places import Api
from metl_gui.registry.remote.apicurio import Apicurio
from metl_gui.registry.remote.client import Registry
from metl_gui.registry.remote.confluent import Confluent
from metl_gui.registry.remote.web import Web

_OWN_3, _OWN_2, _COMPATIBLE = "/apis/registry/v3", "/apis/registry/v2", "/apis/ccompat/"


def open_registry(web: Web) -> Registry:
    """Return the client for what a registry speaks.

    Raises:
        SchemaError: it is none, or refuses us.
        AwayError: it does not answer.
    """
    url, path = web.place.url, urlsplit(web.place.url).path
    if path.endswith(_OWN_3):
        return Apicurio(web, url, Api.APICURIO_3)
    if path.endswith(_OWN_2):
        return Apicurio(web, url, Api.APICURIO_2)
    if _COMPATIBLE in path:
        return Confluent(web, url)
    match web.place.api:
        case Api.APICURIO_3:
            return Apicurio(web, url + _OWN_3, Api.APICURIO_3)
        case Api.APICURIO_2:
            return Apicurio(web, url + _OWN_2, Api.APICURIO_2)
        case Api.CONFLUENT:
            return Confluent(web, url)
        case _:
            return _tried(web)


def _tried(web: Web) -> Registry:
    """Ask for what only one of them has; a refusal that is not about the address is told at once."""
    url, said = web.place.url, ""
    tried = (
        Apicurio(web, url + _OWN_3, Api.APICURIO_3),
        Apicurio(web, url + _OWN_2, Api.APICURIO_2),
        Confluent(web, url),
    )
    for registry in tried:
        probe = "/subjects" if registry.api is Api.CONFLUENT else "/system/info"
        try:
            if registry.find(probe) is not None:
                return registry
        except AwayError:
            raise
        except SchemaError as error:
            if "HTTP 401" in error.text or "HTTP 403" in error.text or "TLS" in error.title or "cert" in error.title:
                raise
            said = said or str(error.text)
    raise SchemaError(
        f"There is no registry at {web.place.shown}.",
        f"It knows neither Apicurio's API nor Confluent's. {said}".strip(),
        "Look at the address: that of Apicurio ends in /apis/registry/v3.",
    )
