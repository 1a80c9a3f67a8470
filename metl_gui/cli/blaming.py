"""What ``metl history --of`` prints: who set what, in which state and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from metl_gui.errors import EditError

if TYPE_CHECKING:
    from metl_gui.core.matrix.blocks import BlockKey
    from metl_gui.core.matrix.document import Document
    from metl_gui.workbench.blame import Blame, Event
    from metl_gui.workbench.session import Workbench

Answer = tuple[dict[str, Any], list[str]]
"""The JSON document and the lines."""


def history_of(workbench: Workbench, of: Sequence[str]) -> Answer:
    """Answer ``--of BLOCK``, ``--of BLOCK FROM=TO`` or ``--of SCHEMA.ATTRIBUTE``.

    Raises:
        EditError: there is no such thing.
    """
    from metl_gui.workbench import blame
    from metl_gui.workbench.addresses import cuts_at_equals, find_block, find_leaf

    state = workbench.document.state
    if len(of) == 1 and not _is_block(workbench.document, of[0]):
        side, version, attribute = find_leaf(workbench.document, of[0])
        events = blame.attribute_history(workbench, side, version.schema_id, attribute.lineage)
        return _told(state, events)
    key = find_block(workbench.document, of[0])
    if len(of) == 1:
        block = workbench.document.matrix.block(*key)
        found = blame.blame(workbench, key) if block is not None else ()
        events = blame.block_history(workbench, key)
        lines = [*_blame_lines(found), *([""] if found else []), *_event_lines(events)]
        elements = [each.as_json() for each in found]
        return {"state": state, "elements": elements, "events": [event.as_json() for event in events]}, lines
    cuts = cuts_at_equals(of[1])
    if not cuts or len(of) > 2:
        raise EditError(f"{' '.join(of[1:])!r} names no element.", hint="Write one element as FROM=TO.")
    return _told(state, blame.element_history(workbench, key, _lineages(workbench.document, key, cuts)))


def _is_block(document: Document, text: str) -> bool:
    """Tell a block from an attribute; names may hold any sign, so what is there decides first."""
    from metl_gui.workbench.addresses import find_block, find_leaf

    if ":" not in text:
        return False
    for find, outcome in ((find_block, True), (find_leaf, False)):
        try:
            find(document, text)
        except EditError:
            continue
        return outcome
    return "@" in text


def _lineages(document: Document, key: BlockKey, cuts: Sequence[tuple[str, str]]) -> tuple[int, int]:
    """Find an element of a block by the paths of its ends, one that it has lost too; paths may hold the sign itself."""
    from metl_gui.workbench.addresses import find_attribute

    block = document.matrix.block(*key)
    for loss in block.losses if block is not None else ():
        if (loss.from_path, loss.to_path) in cuts:
            return loss.lineages
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    known = (cut for cut in cuts if version.at_path(cut[0]) is not None and entity_version.at_path(cut[1]) is not None)
    source, target = next(known, cuts[0])
    p = find_attribute(version, document.extraction.schema(version.schema_id).name, source)
    q = find_attribute(entity_version, document.cdm.schema(entity_version.schema_id).name, target)
    return q.lineage, p.lineage


def _told(state: int, events: Sequence[Event]) -> Answer:
    lines = list(_event_lines(events)) or ["The log tells nothing of it."]
    return {"state": state, "events": [event.as_json() for event in events]}, lines


def _blame_lines(found: Sequence[Blame]) -> Iterator[str]:
    for each in found:
        name = f"{each.element.from_path} -> {each.element.to_path}"
        if each.origin is None:
            yield f"     ?  {name}: set before the log begins"
            continue
        by = f", carried along by {', '.join(str(event.state) for event in each.carried)}" if each.carried else ""
        yield f"{each.origin.state:>6}  {each.origin.when}  {each.origin.who}  {name}: {each.origin.title}{by}"
        if each.origin.comment:
            yield f"        comment: {each.origin.comment}"


def _event_lines(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        where = f" in {event.block}" if event.block is not None else ""
        merged = f", one of {event.states} states up to here" if event.states > 1 else ""
        yield f"{event.state:>6}  {event.when}  {event.who}  {event.what}{where}{merged}: {event.title}"
        for words in (event.reason, f"comment: {event.comment}" if event.comment else ""):
            if words:
                yield f"        {words}"
