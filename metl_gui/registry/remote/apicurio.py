"""Apicurio's own API, versions 3 and 2.

Source: cdc-formats.md §8.1 and §8.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias
from urllib.parse import quote

from metl_gui.core.project.writer_schemas import of_content, of_global
from metl_gui.errors import SchemaError
from metl_gui.formats.avro_types import read_avro
from metl_gui.registry.documents import parse_json
from metl_gui.registry.places import Api
from metl_gui.registry.remote.client import MAX_SUBJECTS, MAX_VERSIONS, Listed, Registry, Subject, text_of
from metl_gui.registry.remote.web import Web
from metl_gui.registry.schema_entries import DEFAULT_GROUP, Entry, entry_of

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

    def __init__(self, web: Web, base: str, api: Api) -> None:
        super().__init__(web, base)
        self.api = api

    def about(self) -> str:
        """Say what it is, with its version where it tells."""
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

    def entry(self, subject: Subject, version: Listed) -> Entry:
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

    def by_id(self, id_: str) -> Entry | None:
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
    """Say whether a content may need another one; saves asking for the references of each."""
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
