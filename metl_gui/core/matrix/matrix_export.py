"""An export as a value: the document it carries, and what its head says of the state it was made of.

What is read from an export can be written again byte for byte. Blocks that wait for an answer to a merge carry both
sides with them (``conflicts`` and ``kept``), so that nothing is lost in a file that has no review list.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block
from metl_gui.core.matrix.canonical import (
    dusb_content,
    elements_content,
    exported_blocks,
    is_held,
    matrix_content,
    state_hash,
)
from metl_gui.core.matrix.document import Document
from metl_gui.values import Value

JSON_FORMAT = "metl-matrix"
DUSB_FORMAT = "metl-dusb"

_DOCUMENT = "merged with the document"
_WAITING = "lost elements of the document that wait for an answer"
_AGAIN = "written again for the result"

MERGED_FIELDS = {
    "": {
        "format version": "alike in all that is merged",
        "state": "one more than the larger of both",
        "settings trees blocks warehouse_models": _DOCUMENT,
        "hash digest": _AGAIN,
    },
    "settings": {
        "schemas entities": _DOCUMENT,
        "include_unconfirmed": "as ours has it, and set where the result holds what nobody has confirmed",
    },
    "trees": {"schemas entities": _DOCUMENT},
    "trees.*": {"name aliases versions ignored": _DOCUMENT},
    "trees.*.ignored": {"lineage reason": _DOCUMENT},
    "trees.*.versions": {"version labels fingerprint key attributes": _DOCUMENT},
    "trees.*.versions.attributes": {"path type optional lineage logical scale": _DOCUMENT},
    "blocks": {
        "schema version entity entity_version status unconfirmed elements": _DOCUMENT,
        "held": _AGAIN,
        "kept conflicts": _WAITING,
    },
    "blocks.elements": {"from to": _DOCUMENT},
    "blocks.kept": {"from to": _WAITING},
    "blocks.conflicts": {"from to reason": _WAITING},
}
"""What a merge makes of the members of a JSON export, by where they stand; nothing in it lies beside the states."""


class MatrixExport(Value, eq=False):
    """What an export carries.

    Args:
        document: trees, settings and the blocks that were exported; ids are its own.
        format: ``metl-matrix`` or ``metl-dusb``.
        state: number of the state it was made of.
        hash: of that whole state.
        include_unconfirmed: whether unconfirmed blocks were carried.
    """

    document: Document
    format: str
    state: int
    hash: str
    include_unconfirmed: bool

    @property
    def is_whole(self) -> bool:
        """Whether the export carries all of the state that it was made of."""
        return state_hash(self.document) == self.hash

    def content(self) -> dict[str, Any]:
        """Build the export again, byte for byte when it is laid out as before."""
        head = {"state": self.state, "hash": self.hash}
        if self.format == DUSB_FORMAT:
            return dusb_content(self.document, self.include_unconfirmed) | head
        content = matrix_content(self.document, self.include_unconfirmed) | head
        blocks = exported_blocks(self.document, self.include_unconfirmed)
        content["blocks"] = [
            written | _open_conflicts(self.document, block)
            for written, block in zip(content["blocks"], blocks, strict=True)
        ]
        return content

    def with_document(self, document: Document, state: int) -> MatrixExport:
        """Return the export of another document."""
        has_unconfirmed = any(b.is_unconfirmed for b in document.matrix.blocks())
        return replace(
            self,
            document=document,
            state=state,
            hash=state_hash(document),
            include_unconfirmed=self.include_unconfirmed or has_unconfirmed,
        )


def _open_conflicts(document: Document, block: Block) -> dict[str, Any]:
    """Write what either side of a merge wants, and what a block holds that is written without its elements."""
    conflicts = [{"from": x.from_path, "to": x.to_path, "reason": x.reason} for x in block.open_losses]
    if conflicts:
        return {"conflicts": conflicts, "kept": elements_content(document, block)}
    return {"kept": elements_content(document, block)} if block.elements and is_held(document, block) else {}
