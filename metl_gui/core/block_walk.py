"""From block to block: through all of a schema, or along the versions against one entity version.

Order: versions oldest first; within a version by entity version id. Cost: the column sets of the schema's versions.
"""

from __future__ import annotations

from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.matrix.document import Document


def neighbour(document: Document, key: BlockKey, step: int, *, along_versions: bool = False) -> BlockKey | None:
    """Return the block some steps before (negative) or after another one, ``None`` beyond either end.

    Args:
        document: where the blocks are.
        key: the block to start from; it may be a block of zeros.
        step: how many blocks further.
        along_versions: stay with the entity version and go through all versions of the schema, blocks of zeros
            included; else go through all blocks of which something is known, version by version.
    """
    version = document.extraction.find_version(key[0])
    if version is None:
        return None
    ids = document.extraction.schema(version.schema_id).version_ids
    keys = [k for id_ in ids for k in ([(id_, key[1])] if along_versions else _column(document, id_, key))]
    at = keys.index(key) + step
    return keys[at] if 0 <= at < len(keys) else None


def _column(document: Document, version_id: int, key: BlockKey) -> list[BlockKey]:
    keys = document.matrix.column_keys(version_id)
    return sorted({*keys, key}) if version_id == key[0] else keys
