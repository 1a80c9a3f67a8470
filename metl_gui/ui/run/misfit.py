"""Which attribute of the canonical model a value did not fit, from what the error store says of it."""

from __future__ import annotations

import re

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.results import SetAsideRecord
from metl_gui.ui.selection import Selected, place_of_version

_DETAIL = re.compile(
    r"(?P<entity>.+)@(?P<version>\S+) (?P<path>.+?) takes (?P<wants>.+?), and not (?P<value>.*)", re.DOTALL
)
HIDDEN_VALUE = "what it has, which is masked"


def without_value(detail: str) -> str:
    """Return what is said of a misfit without the value that did not fit."""
    found = _DETAIL.fullmatch(detail)
    return detail[: found.start("value")] + HIDDEN_VALUE if found is not None else detail


def cell_of(document: Document, record: SetAsideRecord) -> Selected | None:
    """Return the cell that mapped the value; ``None`` where the record tells none that the document has."""
    found = _DETAIL.fullmatch(record.detail)
    entity = document.cdm.named(found["entity"]) if found is not None else None
    schema = document.extraction.named(record.schema or "")
    if found is None or entity is None or schema is None:
        return None
    target = document.cdm.labelled(entity.id, found["version"])
    source = document.extraction.labelled(schema.id, record.version or "")
    attribute = target.at_path(found["path"]) if target is not None else None
    if target is None or source is None or attribute is None:
        return None
    block = document.matrix.block(source.id, target.id)
    element = next((each for each in block.elements if each.q == attribute.id), None) if block is not None else None
    return Selected(
        place_of_version(document, Side.EXTRACTION, source.id, element.p if element is not None else None),
        place_of_version(document, Side.CDM, target.id, attribute.id),
    )
