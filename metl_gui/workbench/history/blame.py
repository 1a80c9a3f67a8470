"""Who set what, in which state and why: the history of one element, one block or one attribute.

An element that a new version took over is traced to the block it came from, version by version, back to the edit that
set it. Elements and attributes are followed by their lineages as they are in the state that is asked about, so a rename
does not break the trail. Order: the newest first. Source: docs/reference/commands.md, "metl history".
"""

from __future__ import annotations

from collections.abc import Iterator

from metl_gui.core.changes.draft import BlockChange, SchemaChange, VersionChange
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Attribute, Schema, Side, Version
from metl_gui.errors import EditError
from metl_gui.store.edit_log import LoggedEdit
from metl_gui.store.rows.packed_changes import LogFilter
from metl_gui.workbench.addresses import BlockName, ElementName, block_name, element_name
from metl_gui.workbench.history.states import moment
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.session import Workbench

Lineages = tuple[int, int]
"""(lineage of c_q, lineage of a_p): what an element is called in every version."""

SET, CARRIED, CLEARED, LOST = "set", "carried along", "cleared", "lost"
CONFIRMED, RETIRED = "confirmed", "retired"


class BlameEvent(JsonResult):
    """Something that an edit did to what is asked about.

    Args:
        state, title, who, when: the edit; the moment as ISO 8601 text in UTC.
        what: what it did: ``set``, ``carried along``, ``cleared``, ``lost``, ``confirmed``, ``retired``, or in words.
        block: the block that it did it to; ``None`` where its versions are gone, or where it is about an attribute.
        reason: why an element was lost, in words.
        comment: what was noted with the block then.
        states: how many states the edit stands for; more than 1 where the log was compacted, and it was one of them.
    """

    state: int
    title: str
    who: str
    when: str
    what: str
    block: BlockName | None = None
    reason: str = ""
    comment: str = ""
    states: int = 1


class Blame(JsonResult):
    """Where an element of a block comes from.

    Args:
        element: the element.
        origin: the edit that set it; ``None`` where the log does not reach back to it.
        carried: the edits by which versions took it over since, the newest first.
    """

    element: ElementName
    origin: BlameEvent | None
    carried: tuple[BlameEvent, ...]


def blame(
    workbench: Workbench, key: BlockKey, element: Element | None = None, at: Document | None = None
) -> tuple[Blame, ...]:
    """Tell for every element of a block, or for one of them, which state set it, who did, when and why.

    Cost: linear in the log, with little for each entry that touches neither the block nor its other versions.

    Args:
        workbench: the opened project.
        key: the block.
        element: only this one of its elements.
        at: the state that is asked about; the current one by default.

    Raises:
        EditError: there is no such block or element in that state.
    """
    document = at or workbench.document
    block = document.matrix.block(*key)
    if block is None or (element is not None and element not in block.elements):
        raise EditError("That is not mapped today.", hint="Ask for its history instead: it tells what was.")
    history = _ElementHistory(workbench, key, document)
    found = []
    for each in block.elements if element is None else (element,):
        origin, carried = history.origin(key, history.lineages(key, each))
        found.append(Blame(element_name(document, block, each), origin, carried))
    return tuple(found)


def origins(workbench: Workbench, key: BlockKey, at: Document) -> dict[Element, BlameEvent | None]:
    """Return for every element of a block, in a state, the edit that set it; ``None`` where the log does not tell.

    Nothing for a block that is not there. Cost: as of ``blame``.
    """
    block = at.matrix.block(*key)
    if block is None:
        return {}
    return {element: each.origin for element, each in zip(block.elements, blame(workbench, key, at=at), strict=True)}


def element_history(
    workbench: Workbench, key: BlockKey, lineages: Lineages, at: Document | None = None
) -> tuple[BlameEvent, ...]:
    """Tell everything that was done to one element, back through the versions that its block was taken over from.

    Args:
        workbench: the opened project.
        key: the block; the element need not be in it today.
        lineages: of the CDM attribute and of the extraction attribute.
        at: the state up to which it is told; the current one by default.
    """
    return tuple(_ElementHistory(workbench, key, at or workbench.document).events(key, lineages))


def block_history(workbench: Workbench, key: BlockKey, at: Document | None = None) -> tuple[BlameEvent, ...]:
    """Tell everything that was done to a block, with its elements counted, up to a state or to the current one."""
    return tuple(_ElementHistory(workbench, key, at or workbench.document).block_events(key))


def attribute_history(
    workbench: Workbench, side: Side, schema_id: int, lineage: int, at: Document | None = None
) -> tuple[BlameEvent, ...]:
    """Return what was done to an attribute in all versions of its schema or entity: the trees, not the mapping.

    That it was marked as never to be mapped is of the trees.

    Args:
        workbench: the opened project.
        side, schema_id, lineage: the attribute.
        at: the state up to which it is told; the current one by default.
    """
    wanted = LogFilter(schema=(side, schema_id))
    newest = (at or workbench.document).state
    found: list[BlameEvent] = []
    for edit, change in workbench.touching(wanted):
        if edit.state > newest:
            continue
        for each in change.versions:
            what = _done_to_attribute(each, lineage) if each.side is side and _schema_of(each) == schema_id else ""
            if what:
                found.append(_event(edit, what))
        marks = (_done_to_mark(s, lineage) for s in change.schemas if (s.side, s.id) == (side, schema_id))
        found += [_event(edit, what) for what in marks if what]
    return tuple(found)


class _ElementHistory:
    """Follows the elements of one schema and one entity back through the log.

    Args:
        workbench: the opened project.
        key: a block between the two.
        document: the state up to which they are followed.
    """

    def __init__(self, workbench: Workbench, key: BlockKey, document: Document) -> None:
        self._document = document
        self._workbench = workbench
        self._versions: dict[tuple[Side, int], Version | None] = {}
        self._by_key: dict[BlockKey, list[tuple[LoggedEdit, BlockChange]]] = {}
        self._read(self._super_block(key))

    def origin(self, key: BlockKey, lineages: Lineages) -> tuple[BlameEvent | None, tuple[BlameEvent, ...]]:
        """Return the edit that set an element, and those that carried it along."""
        carried: list[BlameEvent] = []
        for event in self.events(key, lineages):
            if event.what == SET:
                return event, tuple(carried)
            if event.what == CARRIED:
                carried.append(event)
        return None, tuple(carried)

    def events(self, key: BlockKey, lineages: Lineages) -> Iterator[BlameEvent]:
        """Yield what was done to an element, the newest first."""
        below = self._document.state + 1
        place: BlockKey | None = key
        while place is not None:
            place, below, found = self._stretch(place, lineages, below)
            yield from found

    def block_events(self, key: BlockKey) -> Iterator[BlameEvent]:
        """Yield what was done to a block, the newest first."""
        for edit, change in self._of(key):
            if edit.state > self._document.state:
                continue
            yield _event(edit, _counted(change), change, block_name(self._document, key))

    def lineages(self, key: BlockKey, element: Element) -> Lineages:
        """Name an element by lineages."""
        source, target = self._ends(key)
        return target.get(element.q, -element.q), source.get(element.p, -element.p)

    def _stretch(self, key: BlockKey, lineages: Lineages, below: int) -> tuple[BlockKey | None, int, list[BlameEvent]]:
        """Collect what was done to an element of one block, and the block that it was taken over from."""
        found: list[BlameEvent] = []
        name = block_name(self._document, key)
        for edit, change in self._of(key):
            what = self._done(change, lineages) if edit.state < below else ""
            source = change.after.came_from if change.after is not None and change.before is None else None
            is_carried = what == SET and source is not None and self._had(source, lineages, edit.state)
            if what:
                found.append(_event(edit, CARRIED if is_carried else what, change, name, _reason(change, lineages)))
            if what in (SET, LOST) and source is not None and self._had(source, lineages, edit.state):
                return source, edit.state, found
        return None, 0, found

    def _had(self, key: BlockKey, lineages: Lineages, before_state: int) -> bool:
        """Whether a block had an element just before a state."""
        if key not in self._by_key:
            self._read(frozenset({key}))
        last = next((change for edit, change in self._of(key) if edit.state < before_state), None)
        return last is not None and last.after is not None and self._holds(last.after, lineages)

    def _done(self, change: BlockChange, lineages: Lineages) -> str:
        before, after = change.before, change.after
        had = before is not None and self._holds(before, lineages)
        if after is not None and self._holds(after, lineages):
            is_confirmed = had and before is not None and before.status is not after.status is Status.CONFIRMED
            return (CONFIRMED if is_confirmed else "") if had else SET
        is_lost = _loss(after, lineages) and not _loss(before, lineages)
        if not had:
            return LOST if is_lost else ""
        if after is not None and after.status is Status.RETIRED:
            return RETIRED
        return LOST if is_lost else CLEARED

    def _holds(self, block: Block, lineages: Lineages) -> bool:
        return any(self.lineages(block.key, element) == lineages for element in block.elements)

    def _ends(self, key: BlockKey) -> tuple[dict[int, int], dict[int, int]]:
        """Lineages by attribute id of both versions of a block."""
        pair = self._version(Side.EXTRACTION, key[0]), self._version(Side.CDM, key[1])
        source, target = ({} if v is None else {a.id: a.lineage for a in v.attributes} for v in pair)
        return source, target

    def _version(self, side: Side, id_: int) -> Version | None:
        return self._document.tree(side).find_version(id_) or self._versions.get((side, id_))

    def _super_block(self, key: BlockKey) -> frozenset[BlockKey]:
        ids: list[tuple[int, ...]] = []
        for side, id_ in zip(Side, key, strict=True):
            version = self._document.tree(side).find_version(id_)
            ids.append((id_,) if version is None else self._document.tree(side).schema(version.schema_id).version_ids)
        return frozenset((v, w) for v in ids[0] for w in ids[1]) | {key}

    def _read(self, keys: frozenset[BlockKey]) -> None:
        """Read what was done to some blocks, and the versions that are gone today."""
        for key in keys:
            self._by_key[key] = []
        for edit, change in self._workbench.touching(LogFilter(keys=keys)):
            for version in change.versions:
                self._versions.setdefault((version.side, version.id), version.before or version.after)
            for block in change.blocks:
                if block.key in keys:
                    self._by_key[block.key].append((edit, block))

    def _of(self, key: BlockKey) -> list[tuple[LoggedEdit, BlockChange]]:
        return self._by_key[key]


def _event(
    edit: LoggedEdit,
    what: str,
    change: BlockChange | None = None,
    name: BlockName | None = None,
    reason: str = "",
) -> BlameEvent:
    after = change.after if change is not None else None
    comment = after.comment if change is not None and after is not None and _is_new_comment(change) else ""
    return BlameEvent(edit.state, edit.title, edit.who, moment(edit.when_ms), what, name, reason, comment, edit.states)


def _is_new_comment(change: BlockChange) -> bool:
    before = change.before.comment if change.before is not None else ""
    return change.after is not None and change.after.comment != before


def _loss(block: Block | None, lineages: Lineages) -> str:
    """Why a block lost an element, empty where it did not."""
    losses = block.losses if block is not None else ()
    return next((loss.reason or LOST for loss in losses if loss.lineages == lineages), "")


def _reason(change: BlockChange, lineages: Lineages) -> str:
    return "" if _loss(change.before, lineages) else _loss(change.after, lineages)


def _counted(change: BlockChange) -> str:
    before, after = change.before, change.after
    had = frozenset(before.elements) if before is not None else frozenset()
    has = frozenset(after.elements) if after is not None else frozenset()
    told = [f"+{len(has - had)}" if has - had else "", f"-{len(had - has)}" if had - has else ""]
    if after is None:
        told.append("gone")
    elif before is None or before.status is not after.status:
        told.append(after.status.value)
    return ", ".join(filter(None, told)) or "noted"


def _done_to_attribute(change: VersionChange, lineage: int) -> str:
    old, new = _at(change.before, lineage), _at(change.after, lineage)
    known = change.after or change.before
    if known is None or old == new:
        return ""
    where = f"version {known.label}"
    if old is None:
        return f"came in {where}" if change.before is None else f"joined in {where}"
    if new is None:
        return f"went with {where}" if change.after is None else f"split off in {where}"
    if old.path != new.path:
        return f"{old.path} became {new.path} in {where}"
    if old.type_text != new.type_text:
        return f"{old.type_text} became {new.type_text} in {where}"
    return f"changed in {where}"


def _done_to_mark(change: SchemaChange, lineage: int) -> str:
    was, is_ = (_reason_never(schema, lineage) for schema in (change.before, change.after))
    if was == is_ or change.after is None:
        return ""
    return f"never to be mapped: {is_}" if is_ else "to be mapped again"


def _reason_never(schema: Schema | None, lineage: int) -> str:
    return next((each.reason for each in schema.ignored if each.lineage == lineage), "") if schema is not None else ""


def _at(version: Version | None, lineage: int) -> Attribute | None:
    return version.of_lineage(lineage) if version is not None else None


def _schema_of(change: VersionChange) -> int:
    version = change.after or change.before
    return version.schema_id if version is not None else 0
