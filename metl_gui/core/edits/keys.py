"""The edit that notes a key which was not known when its version was added."""

from __future__ import annotations

from dataclasses import dataclass, replace

from metl_gui.core.document import Document
from metl_gui.core.draft import Draft
from metl_gui.core.nodes import Side
from metl_gui.errors import EditError


@dataclass(frozen=True, slots=True)
class NoteKey:
    """Note the key of a version, from a source that knows it: a message key, a key struct, a catalogue.

    Args:
        side, version_id: the version.
        key: key paths in key order, ``()`` for none.
    """

    side: Side
    version_id: int
    key: tuple[str, ...]

    def title(self, document: Document) -> str:
        """Say what the key is."""
        version = document.tree(self.side).version(self.version_id)
        name = document.tree(self.side).schema(version.schema_id).name
        return f"Note that {', '.join(self.key) or 'nothing'} is the key of {name} version {version.label}"

    def apply(self, draft: Draft) -> None:
        """Set the key.

        Raises:
            EditError: the version is gone, or a key path is not an attribute of the version.
        """
        version = draft.version(self.side, self.version_id)
        for path in self.key:
            if version.at_path(path) is None:
                raise EditError(
                    f"Version {version.label} has no attribute {path}, so it cannot be part of its key.",
                    hint="Name attributes by their dotted paths, in key order.",
                )
        draft.put_version(self.side, version.id, replace(version, key=self.key))
