"""Going along the history of a document without an edit: an earlier or later state from what changed between."""

from __future__ import annotations

from msgspec.structs import replace

from metl_gui.core.changes.draft import ChangeSet, Draft, EditContext
from metl_gui.core.matrix.document import Document


def rewound(document: Document, change: ChangeSet, state: int) -> Document:
    """Return another state of a document: every part of a change as it was before it.

    The next ids stay those of the document, so that no id is ever given twice. Cost: what the change holds.

    Args:
        document: a state.
        change: all that changed from the wanted state to this one, as one change; its ``inverse()`` goes forth.
        state: number of the wanted state.
    """
    draft = Draft(document, EditContext())
    for schema in change.schemas:
        draft.put_schema(schema.side, schema.id, schema.before)
    for version in change.versions:
        draft.put_version(version.side, version.id, version.before)
    for block in change.blocks:
        if block.before is None:
            draft.drop_blocks([block.key])
        else:
            draft.put_block(block.before)
    for model in change.models:
        draft.put_model(model.name, model.before)
    found = draft.finish("").after
    return replace(found, state=state, extraction_ids=document.extraction_ids, cdm_ids=document.cdm_ids)
