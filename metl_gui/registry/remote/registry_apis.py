"""The APIs that registries speak: Apicurio's own, versions 3 and 2, and Confluent's, which several speak.

Which of them a registry speaks is told by its address, by a profile, or by asking it (``open_registry``).

Source: docs/reference/cdc.md, "Registries".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from metl_gui.core.project.writer_schemas import of_content, of_global
from metl_gui.errors import SchemaError, ServiceUnavailableError
from metl_gui.formats.avro_types import read_avro
from metl_gui.registry.addresses import Api
from metl_gui.registry.documents import parse_json
from metl_gui.registry.remote.client import MAX_SUBJECTS, MAX_VERSIONS, Listed, Registry, Subject, text_of
from metl_gui.registry.remote.http import RegistryConnection
from metl_gui.registry.schemas.registry_entries import DEFAULT_GROUP, RegistryEntry, entry_of

Newest: TypeAlias = tuple[str, frozenset[int]]
"""When a version was changed last, and the global ids of those that were at that very time."""

_UNREADABLE = frozenset({"DISABLED", "DRAFT"})


class Apicurio(Registry):
    """A registry that speaks Apicurio's API.

    Args:
        web: the connection.
        base: its address, which ends in the version of the API.
        api: which version that is.
    """

    def __init__(self, web: RegistryConnection, base: str, api: Api) -> None:
        super().__init__(web, base)
        self.api = api

    def about(self) -> str:
        """Describe what it is, with its version where it tells."""
        found = self.get("/system/info")
        if not isinstance(found, dict):
            raise self.wrong("It does not say what it is")
        name, version = text_of(found, "name") or "Apicurio Registry", text_of(found, "version")
        return f"{name[:80]} {version[:40]}".strip()

    def subjects(self) -> Iterator[Subject]:
        """List everything that it holds, as the pages come."""
        for one in self.paged("/search/artifacts", "artifacts", MAX_SUBJECTS, order="asc", orderby="name"):
            subject = _subject_of(one)
            if subject.name:
                yield subject

    def versions(self, subject: Subject) -> list[Listed]:
        """List the versions of a subject, the oldest first; none where there is no such subject."""
        listed = list(self.paged(f"{_path(subject)}/versions", "versions", MAX_VERSIONS))
        return [_listed(one) for one in sorted(listed, key=_number)]

    def entry(self, subject: Subject, version: Listed) -> RegistryEntry:
        """Fetch one version."""
        path = f"{_path(subject)}/versions/{_quoted(version.label)}"
        own = "/content" if self.api is Api.APICURIO_3 else ""
        text = self.web.find_text(f"{self.base}{path}{own}")
        if text is None:
            raise self.wrong(f"{subject.shown} has no content in version {version.label}")
        references = self.find(f"{path}/references") if may_refer(version.kind, text) else []
        about = {"subject": subject.name, "group": subject.group, "version": version.label}
        stated = {**about, "artifactType": version.kind or "AVRO", "content": text, "references": references or []}
        return entry_of(stated, version.ids)

    def by_id(self, id_: str) -> RegistryEntry | None:
        """Fetch what messages call by an id; ``None`` where nothing has it.

        A number alone is an id of content first, as newer writers frame it, then a global id; the entry says which.
        """
        for member, own in _meanings(id_):
            path = f"/ids/{member}s/{_quoted(own.rpartition(':')[2])}"
            text = self.web.find_text(self.base + path)
            if text is not None:
                content = _kind_by_content(text)
                references = self.find(f"{path}/references") if may_refer(content, text) else []
                about = {"artifactType": content, "content": text}
                return entry_of({**about, "references": references or []}, (own,))
        return None

    def using(self, id_: str) -> list[tuple[Subject, Listed]]:
        """List the versions that have an id, with their subjects; only the third API tells."""
        for member, own in _meanings(id_) if self.api is Api.APICURIO_3 else ():
            listed = self.paged("/search/versions", "versions", MAX_VERSIONS, **{member: own.rpartition(":")[2]})
            found = [(_subject_of(one), _listed(one)) for one in sorted(listed, key=_number)]
            found = [(replace(subject, changed=""), version) for subject, version in found if own in version.ids]
            if found:
                return found
        return []

    @property
    def lists_newest(self) -> bool:
        """Whether it can be asked what was changed last."""
        return self.api is Api.APICURIO_3

    def newest(self, before: Newest | None) -> tuple[Newest, set[Subject]]:
        """List the subjects with versions that are new or changed.

        Args:
            before: what was the newest then; ``None`` to learn only what is the newest now.
        """
        listed = self.paged("/search/versions", "versions", MAX_SUBJECTS, orderby="modifiedOn", order="desc")
        newest, at_once, changed = "", set[int](), set[Subject]()
        for one in listed:
            when, number = text_of(one, "modifiedOn", "createdOn"), _number(one)
            if newest and when != newest and (before is None or when < before[0]):
                break
            newest = newest or when
            if when == newest:
                at_once.add(number)
            if before is not None and (when > before[0] or (when == before[0] and number not in before[1])):
                changed.add(replace(_subject_of(one), changed=""))
        return (newest, frozenset(at_once)), changed

    def unknown(self, known: frozenset[str]) -> set[Subject]:
        """List the subjects with versions whose content has an id that is not among known ones."""
        listed = self.paged("/search/versions", "versions", MAX_SUBJECTS, orderby="globalId", order="asc")
        return {replace(_subject_of(one), changed="") for one in listed if known.isdisjoint(_listed(one).ids)}


def _meanings(id_: str) -> list[tuple[str, str]]:
    """Return what an id may be: the member that versions have it in, and the id in full."""
    number = id_.rpartition(":")[2]
    named = (("contentId", of_content(number)), ("globalId", of_global(number))) if number.isdecimal() else ()
    return [(member, own) for member, own in named if id_ in (number, own)]


def _subject_of(listed: Mapping[str, Any]) -> Subject:
    kind, changed = text_of(listed, "artifactType", "type").upper(), text_of(listed, "modifiedOn", "createdOn")
    return Subject(_group(text_of(listed, "groupId")), text_of(listed, "artifactId", "id"), kind, changed)


def _path(subject: Subject) -> str:
    return f"/groups/{_quoted(subject.group or DEFAULT_GROUP)}/artifacts/{_quoted(subject.name)}"


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _group(name: str) -> str:
    return "" if name == DEFAULT_GROUP else name


def _number(version: Mapping[str, Any]) -> int:
    """Return what versions are sorted by: global ids count up over everything that is registered."""
    found = version.get("globalId")
    return found if isinstance(found, int) else 0


def _listed(version: Mapping[str, Any]) -> Listed:
    state = text_of(version, "state")
    content, globe = version.get("contentId"), version.get("globalId")
    ids = [of_content(content)] if isinstance(content, int) else []
    ids += [of_global(globe)] if isinstance(globe, int) else []
    return Listed(
        label=str(version.get("version", "")),
        kind=text_of(version, "artifactType", "type").upper(),
        created=text_of(version, "createdOn"),
        state=state if state in _UNREADABLE else "",
        ids=tuple(ids),
    )


def may_refer(kind: str, text: str) -> bool:
    """Return whether a content may need another one; saves asking for the references of each."""
    if kind != "AVRO":
        return kind != "KCONNECT" and '"$ref"' in text
    try:
        read_avro(parse_json(text))
    except SchemaError:
        return True
    return False


def _kind_by_content(text: str) -> str:
    """Guess the kind of a content whose answer does not say it."""
    compact = "".join(text[:2000].split())
    if '"type":"struct"' in compact:
        return "KCONNECT"
    return "JSON" if '"$schema"' in compact or '"properties"' in compact else "AVRO"


class Confluent(Registry):
    """A registry that speaks Confluent's API."""

    api = Api.CONFLUENT

    def about(self) -> str:
        """Describe what it is; the API does not tell a version."""
        self._names()
        return "A registry with Confluent's API"

    def subjects(self) -> Iterator[Subject]:
        """List everything that it holds."""
        yield from (Subject("", name) for name in sorted(self._names()))

    def versions(self, subject: Subject) -> list[Listed]:
        """List the versions of a subject, the oldest first; none where there is no such subject."""
        found = self.find(f"/subjects/{_quoted(subject.name)}/versions")
        if found is None:
            return []
        if not isinstance(found, list) or not all(type(number) is int for number in found):
            raise self.wrong(f"The versions of {subject.name} are no list of numbers")
        return [Listed(str(number)) for number in sorted(found)]

    def entry(self, subject: Subject, version: Listed) -> RegistryEntry:
        """Fetch one version."""
        return self._entry(self.get(f"/subjects/{_quoted(subject.name)}/versions/{_quoted(version.label)}"))

    def by_id(self, id_: str) -> RegistryEntry | None:
        """Fetch what messages call by an id; ``None`` where nothing has it."""
        number = id_.rpartition(":")[2]
        if number.isdecimal() and id_ in (number, of_content(number), of_global(number)):
            found = self.find(f"/schemas/ids/{number}")
        elif id_.count("-") == 4:
            found = self.find(f"/schemas/guids/{_quoted(id_)}")
        else:
            return None
        return None if found is None else entry_of(self._checked(found), (id_,))

    def using(self, id_: str) -> list[tuple[Subject, Listed]]:
        """List the versions that have an id, with their subjects; a GUID is not told of."""
        number = id_.rpartition(":")[2]
        found = self.find(f"/schemas/ids/{number}/versions") if number.isdecimal() else None
        listed = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
        return [(Subject("", str(one.get("subject", ""))), Listed(str(one.get("version", "")))) for one in listed]

    def _names(self) -> list[str]:
        found = self.get("/subjects")
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise self.wrong("Its subjects are no list of names")
        if len(found) > MAX_SUBJECTS:
            raise self.wrong(f"It has more than {MAX_SUBJECTS:,} subjects")
        return list(dict.fromkeys(found))

    def _entry(self, found: Any) -> RegistryEntry:
        return entry_of(self._checked(found))

    def _checked(self, found: Any) -> dict[str, Any]:
        self.part(found, "schema", str)
        return dict(found)


_OWN_3, _OWN_2, _COMPATIBLE = "/apis/registry/v3", "/apis/registry/v2", "/apis/ccompat/"


def open_registry(web: RegistryConnection) -> Registry:
    """Return the client for what a registry speaks.

    Raises:
        SchemaError: it is none, or refuses us.
        ServiceUnavailableError: it does not answer.
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


def _tried(web: RegistryConnection) -> Registry:
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
        except ServiceUnavailableError:
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
