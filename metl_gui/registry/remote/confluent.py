"""Confluent's API, which several registries speak.

Source: cdc-formats.md §8.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from metl_gui.core.project.writer_schemas import of_content, of_global
from metl_gui.registry.places import Api
from metl_gui.registry.remote.client import MAX_SUBJECTS, Listed, Registry, Subject
from metl_gui.registry.schema_entries import Entry, entry_of


class Confluent(Registry):
    """A registry that speaks Confluent's API."""

    api = Api.CONFLUENT

    def about(self) -> str:
        """Say what it is; the API does not tell a version."""
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

    def entry(self, subject: Subject, version: Listed) -> Entry:
        """Fetch one version."""
        return self._entry(self.get(f"/subjects/{_quoted(subject.name)}/versions/{_quoted(version.label)}"))

    def by_id(self, id_: str) -> Entry | None:
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

    def _entry(self, found: Any) -> Entry:
        return entry_of(self._checked(found))

    def _checked(self, found: Any) -> dict[str, Any]:
        self.part(found, "schema", str)
        return dict(found)


def _quoted(name: str) -> str:
    return quote(name, safe="")
