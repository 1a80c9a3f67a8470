"""Undo and redo: a new state with old content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metl_gui.core.document import Document
from metl_gui.core.draft import Change, Draft
from metl_gui.errors import EditError


@dataclass(frozen=True, slots=True)
class Revert:
    """Put everything that a change replaced back to what it was before; later edits elsewhere stay.

    Args:
        change: the change to take back.
        name: title of what is taken back.
        is_redo: whether this takes back an undo.
    """

    change: Change
    name: str
    is_redo: bool = False

    def title(self, document: Document) -> str:  # noqa: ARG002 - the title is part of the log
        """Say what is undone or redone."""
        return f"{'Redo' if self.is_redo else 'Undo'}: {self.name}"

    def apply(self, draft: Draft) -> None:
        """Restore the parts.

        Raises:
            EditError: something that the change touched was changed again since.
        """
        in_the_way = sorted(set(self._in_the_way(draft)))
        if in_the_way:
            raise EditError(
                f"“{self.name}” cannot be taken back any more.",
                f"Changed since: {', '.join(in_the_way[:5])}{' and more' if len(in_the_way) > 5 else ''}.",
                "Take the later edits back first, or set it by hand.",
            )
        for schema in self.change.schemas:
            draft.put_schema(schema.side, schema.id, schema.before)
        for version in self.change.versions:
            draft.put_version(version.side, version.id, version.before)
        for block in self.change.blocks:
            if block.before is None:
                draft.drop_blocks([block.key])
            else:
                draft.put_block(block.before)

    def _in_the_way(self, draft: Draft) -> Iterator[str]:
        for schema in self.change.schemas:
            found = draft.tree(schema.side).find_schema(schema.id)
            if found != schema.after:
                known = found or schema.after
                yield known.name if known else "a schema"
        for version in self.change.versions:
            now = draft.tree(version.side).find_version(version.id)
            if now != version.after:
                yield f"version {now.label}" if now else "a version that is gone"
        for block in self.change.blocks:
            if draft.matrix.block(*block.key) != block.after:
                yield "a block of the mapping"
