"""What every registry is asked, whichever API it speaks: what it holds, in which versions, and one schema of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from metl_gui.errors import SchemaError
from metl_gui.registry.addresses import Api, RegistryPlace
from metl_gui.registry.remote.http import RegistryConnection
from metl_gui.registry.schemas.registry_entries import RegistryEntry, SchemaReference
from metl_gui.values import Value

PAGE = 500
LONGEST_NAME = 500
MAX_SUBJECTS = 200_000
MAX_VERSIONS = 20_000


class Subject(Value, order=True):
    """One schema of a registry, with all its versions.

    Args:
        group: empty for none.
        name: the subject, or the id of the artifact.
        kind: ``AVRO``, ``JSON`` and so on, upper case; empty where the list does not say.
        changed: when it was changed last, as the registry writes it; empty where the list does not say.
    """

    group: str
    name: str
    kind: str = ""
    changed: str = ""

    @property
    def shown(self) -> str:
        """The subject with its group."""
        return f"{self.group}/{self.name}" if self.group else self.name

    @property
    def is_usable(self) -> bool:
        """Whether people can be shown its name, and a schema be called by it."""
        return 0 < len(self.shown) <= LONGEST_NAME and self.shown.isprintable()


class Listed(Value):
    """One version as it stands in a list.

    Args:
        label: its name.
        kind: of its content, empty where the list does not say.
        created: when, as the registry writes it; empty where the list does not say.
        state: why it is not to be read (``DISABLED``, ``DRAFT``); empty when it is.
        ids: what messages call it, as far as the list says.
    """

    label: str
    kind: str = ""
    created: str = ""
    state: str = ""
    ids: tuple[str, ...] = ()


class Registry(ABC):
    """A registry that is asked over one connection; used by several threads at once.

    Args:
        web: the connection; closed by whoever opened it.
        base: what paths are put behind.
    """

    api: Api

    def __init__(self, web: RegistryConnection, base: str) -> None:
        self.web = web
        self.base = base

    @property
    def place(self) -> RegistryPlace:
        """Where it is."""
        return self.web.place

    @abstractmethod
    def about(self) -> str:
        """Describe what it is, with its version where it tells."""

    @abstractmethod
    def subjects(self) -> Iterator[Subject]:
        """List everything that it holds, as the pages come."""

    @abstractmethod
    def versions(self, subject: Subject) -> list[Listed]:
        """List the versions of a subject, the oldest first; none where there is no such subject."""

    @abstractmethod
    def entry(self, subject: Subject, version: Listed) -> RegistryEntry:
        """Fetch one version."""

    @abstractmethod
    def by_id(self, id_: str) -> RegistryEntry | None:
        """Fetch what messages call by an id; ``None`` where nothing has it."""

    @abstractmethod
    def using(self, id_: str) -> list[tuple[Subject, Listed]]:
        """List the versions that have an id, with their subjects; none where the API does not tell."""

    def referred(self, reference: SchemaReference) -> RegistryEntry | None:
        """Fetch what a schema refers to; ``None`` where it is not there."""
        subject = Subject(reference.group, reference.subject)
        found = next((one for one in self.versions(subject) if one.label == reference.version), None)
        return None if found is None else self.entry(subject, found)

    def get(self, path: str, **parameters: str | int) -> Any:
        """Ask for a document below the base; it must be there."""
        return self.web.json(self.base + path, **parameters)

    def find(self, path: str, **parameters: str | int) -> Any | None:
        """Ask for a document below the base; ``None`` where there is none."""
        return self.web.find_json(self.base + path, **parameters)

    def paged(self, path: str, member: str, most: int, **parameters: str | int) -> Iterator[Mapping[str, Any]]:
        """Ask for a list page by page; stops when the count is reached or a page brings nothing new.

        Raises:
            SchemaError: a page is no page, or there is no end of them.
        """
        seen: set[str] = set()
        while True:
            page = self.find(path, **parameters, limit=PAGE, offset=len(seen))
            if page is None:
                return
            listed = self.part(page, member, list)
            before = len(seen)
            for one in listed:
                if isinstance(one, dict) and (identity := repr(sorted(one.items(), key=str))) not in seen:
                    seen.add(identity)
                    yield one
            count = page.get("count")
            if len(seen) == before or (isinstance(count, int) and len(seen) >= count):
                return
            if len(seen) > most:
                raise self.wrong(f"Its list has more than {most:,} members")

    def part(self, document: object, member: str, kind: type) -> Any:
        """Return a member of a document, which must be of some kind.

        Raises:
            SchemaError: it is not.
        """
        found = document.get(member) if isinstance(document, dict) else None
        if not isinstance(found, kind):
            raise self.wrong(f"The member {member} is missing in its answer or is something else")
        return found

    def wrong(self, what: str) -> SchemaError:
        """Return the error that an answer is not what the API promises."""
        return SchemaError(
            f"{self.place.shown} answers strangely.",
            f"{what}.",
            "Look whether it speaks the API that was taken for it.",
        )


def text_of(document: Mapping[str, Any], *names: str) -> str:
    """Return the first of some members that is text."""
    return next((document[name] for name in names if isinstance(document.get(name), str)), "")
