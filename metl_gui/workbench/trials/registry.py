"""Try a registry: its name, port and certificate, the login, what it speaks, and whether schemas can be read."""

from __future__ import annotations

from itertools import islice
from urllib.parse import urlsplit

from metl_gui.registry.places import Api, RegistryPlace
from metl_gui.registry.remote.client import Registry
from metl_gui.registry.remote.connecting import open_registry
from metl_gui.registry.remote.web import Web, tls_files
from metl_gui.workbench.profiles import find_registry
from metl_gui.workbench.trials.network import knock, resolve, shake_hands
from metl_gui.workbench.trials.steps import Trial

_PORTS = {"https": 443, "http": 80}
_COUNTED = 1000
_SHOWN = 3
_TITLES = {
    Api.APICURIO_3: "Apicurio's API, version 3",
    Api.APICURIO_2: "Apicurio's API, version 2",
    Api.CONFLUENT: "Confluent's API",
}


class RegistryTrial(Trial):
    """Tries a profile of a registry."""

    def attempt(self) -> None:
        """Go from the settings to one schema."""
        self.begin("Settings")
        place = find_registry(f"@{self.profile.name}")
        parts = urlsplit(place.url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        self.end(f"Asked {'over TLS' if parts.scheme == 'https' else 'in the clear'}, {_login_text(place)}.")
        self.begin("Name")
        self.end(resolve([host]))
        self.begin("Port")
        self.end(knock([(host, port)]))
        if parts.scheme == "https":
            self.begin("TLS")
            self.end(shake_hands(host, port, tls_files(place)))
        with Web(place, lambda: self.watch.is_cancelled) as web:
            self.begin("Registry")
            registry = open_registry(web)
            self.end(f"{registry.about()}, asked by {_TITLES[registry.api]}.")
            self._read_one(registry)

    def _read_one(self, registry: Registry) -> None:
        self.begin("Schemas")
        found = list(islice(registry.subjects(), _COUNTED))
        if not found:
            self.end("There is none yet.")
            return
        versions = registry.versions(found[0])
        readable = [version for version in versions if not version.state]
        if readable:
            registry.entry(found[0], readable[-1])
        count = f"{len(found)} or more" if len(found) == _COUNTED else str(len(found))
        some = ", ".join(subject.shown for subject in found[:_SHOWN])
        self.end(f"{count} to be seen: {some}{' ...' if len(found) > _SHOWN else ''}. One was read.")


def _login_text(place: RegistryPlace) -> str:
    if place.token:
        return "with a token"
    return f"as {place.username}" if place.username else "without a login"
