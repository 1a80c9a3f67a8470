"""What stands at the place of a link, in the state of the link: names, mapping, and who decided what and when.

Nothing is run or changed by looking. Source: docs/reference/links.md, "What is shown".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Loss
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.items import ReviewItem, find_item
from metl_gui.core.runs.records import SetAsideRecord
from metl_gui.core.runs.report import RunReport
from metl_gui.core.trees.nodes import Attribute, IgnoredAttribute, Schema, Side, Version
from metl_gui.errors import LinkError, ProjectError
from metl_gui.workbench.addresses import BlockName, ElementName, known_block_name
from metl_gui.workbench.history.blame import (
    Blame,
    BlameEvent,
    attribute_history,
    blame,
    block_history,
    element_history,
)
from metl_gui.workbench.history.states import moment
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.links.link import Link, LinkPlace, PlaceKind
from metl_gui.workbench.links.set_aside import mending_place
from metl_gui.workbench.samples.cell_messages import cell_use, newest_run_using, records_using
from metl_gui.workbench.samples.run_records import first_set_aside
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder

_SIDES = {PlaceKind.SCHEMA: Side.EXTRACTION, PlaceKind.ENTITY: Side.CDM}
_RUNS, _MESSAGES = 20, 10
_NOUNS = {Side.EXTRACTION: "schema", Side.CDM: "entity"}


class UsedMessage(JsonResult):
    """A record that a run keeps and that a cell mapped a value of: the id of the run, and where the record lay."""

    run: str
    position: str


class ShownPlace(JsonResult):
    """What stands at a place.

    Args:
        link: leads here.
        project: name of the project file.
        state: the state that is shown.
        kind: what the place is.
        title: what it is called in that state.
        facts: what is so there, in sentences.
        block, element: the block and the element, of places that have one.
        is_mapped: whether the block has elements, or the element is one of them; ``None`` where that makes no sense.
        status: of the block.
        who, when: who gave the block its status, and when (ISO 8601 text in UTC); ``None`` where nobody did.
        elements: where each element comes from, of a block, a review item or a cell.
        events: what was done to it up to that state, the newest first.
        messages: of a cell, the first records of the last run that keeps some which it mapped a value of.
    """

    link: str
    project: str
    state: int
    kind: PlaceKind
    title: str
    facts: tuple[str, ...] = ()
    block: BlockName | None = None
    element: ElementName | None = None
    is_mapped: bool | None = None
    status: str | None = None
    who: str | None = None
    when: str | None = None
    elements: tuple[Blame, ...] = ()
    events: tuple[BlameEvent, ...] = ()
    messages: tuple[UsedMessage, ...] = ()


def link_to(project_id: str, document: Document, place: LinkPlace) -> Link:
    """Make a link to a place as it stands in a document.

    Raises:
        LinkError: the document has no such place.
    """
    return Link(project_id, document.state, place, title_of(document, place))


def look_at_place(workbench: Workbench, link: Link) -> ShownPlace:
    """Tell what stands at the place of a link, in its state.

    Raises:
        LinkError: the link is of another project, or its state or its place is not there.
    """
    document = document_of(workbench, link)
    title = title_of(document, link.place)
    show = {
        PlaceKind.SCHEMA: _node,
        PlaceKind.ENTITY: _node,
        PlaceKind.BLOCK: _block,
        PlaceKind.REVIEW: _block,
        PlaceKind.CELL: _cell,
        PlaceKind.STATE: _state,
        PlaceKind.RUN: _run,
        PlaceKind.SET_ASIDE: _run,
    }[link.place.kind]
    made = Link(link.project, document.state, link.place, title)
    bare = ShownPlace(str(made), workbench.path.name, document.state, link.place.kind, title)
    return show(workbench, document, link.place, bare)


def document_of(workbench: Workbench, link: Link) -> Document:
    """Return the document at the state of a link.

    Raises:
        LinkError: the link is of another project, or its state is not there.
    """
    if link.project != workbench.project_id:
        raise LinkError(
            f"The link does not lead into {workbench.path.name}.",
            "It was made in another project.",
            "Open the project that it was made in, or a copy of that one.",
        )
    try:
        return workbench.at_state(link.state)
    except ProjectError as error:
        raise LinkError(
            f"State {link.state:,} of the link is not in {workbench.path.name}.", str(error), _other_state(link)
        ) from error


def _other_state(link: Link) -> str:
    return f"Write the number of a state that is there in place of {link.state} in the link, or take a newer copy."


def title_of(document: Document, place: LinkPlace) -> str:
    """Name a place as it is called in a document, in one line.

    Raises:
        LinkError: the document has no such place.
    """
    match place.kind:
        case PlaceKind.SCHEMA | PlaceKind.ENTITY:
            return _node_title(document, place)
        case PlaceKind.CELL:
            key, element = cell_of_place(document, place)
            ends = _ends(document, key, element)
            source, target = _named(document, Side.EXTRACTION, key[0]), _named(document, Side.CDM, key[1])
            return f"{source}.{ends[0]}={target}.{ends[1]}"
        case PlaceKind.BLOCK | PlaceKind.REVIEW:
            return str(known_block_name(document, block_of_place(document, place)))
        case PlaceKind.STATE:
            return f"state {document.state}"
        case _:
            return " ".join(part for part in (f"run {place.run}", place.reason, place.position) if part)


def block_of_place(document: Document, place: LinkPlace) -> BlockKey:
    """Return the block of a block, review item or cell.

    Raises:
        LinkError: one of its versions is not there.
    """
    v, w = (place.ids[0], place.ids[2]) if place.kind is PlaceKind.CELL else (place.ids[0], place.ids[1])
    for side, id_ in ((Side.EXTRACTION, v), (Side.CDM, w)):
        if document.tree(side).find_version(id_) is None:
            raise _gone(document, f"version {id_} of any {_NOUNS[side]}")
    return v, w


def cell_of_place(document: Document, place: LinkPlace) -> tuple[BlockKey, Element]:
    """Return block and element of a cell.

    Raises:
        LinkError: one of its ends is not there.
    """
    key = block_of_place(document, place)
    element = Element(place.ids[3], place.ids[1])
    _ends(document, key, element)
    return key, element


def node_of_place(document: Document, place: LinkPlace) -> tuple[Side, Schema, Version | None, Attribute | None]:
    """Return the nodes of a place in a tree, the lower ones where it has them.

    Raises:
        LinkError: one of them is not there.
    """
    side = _SIDES[place.kind]
    schema = document.tree(side).find_schema(place.ids[0])
    if schema is None:
        raise _gone(document, f"{_NOUNS[side]} {place.ids[0]}")
    version = document.tree(side).find_version(place.ids[1]) if len(place.ids) > 1 else None
    if len(place.ids) > 1 and (version is None or version.schema_id != schema.id):
        raise _gone(document, f"version {place.ids[1]} of {schema.name}")
    attribute = version.attribute(place.ids[2]) if version is not None and len(place.ids) > 2 else None
    if version is not None and len(place.ids) > 2 and attribute is None:
        raise _gone(document, f"attribute {place.ids[2]} of {schema.name} version {version.label}")
    return side, schema, version, attribute


def _gone(document: Document, what: str) -> LinkError:
    return LinkError(
        "The place of the link is not there.",
        f"State {document.state:,} has no {what}.",
        "Look in the history for the state in which it was, and write the number of that state in the link.",
    )


def _node_title(document: Document, place: LinkPlace) -> str:
    _, schema, version, attribute = node_of_place(document, place)
    named = f"{schema.name}@{version.label}" if version is not None else schema.name
    return f"{named}.{attribute.path}" if attribute is not None else named


def _named(document: Document, side: Side, version_id: int) -> str:
    version = document.tree(side).version(version_id)
    return f"{document.tree(side).schema(version.schema_id).name}@{version.label}"


def _ends(document: Document, key: BlockKey, element: Element) -> tuple[str, str]:
    paths = []
    for side, version_id, id_ in ((Side.EXTRACTION, key[0], element.p), (Side.CDM, key[1], element.q)):
        attribute = document.tree(side).version(version_id).attribute(id_)
        if attribute is None:
            raise _gone(document, f"attribute {id_} in {_named(document, side, version_id)}")
        paths.append(attribute.path)
    return paths[0], paths[1]


def _node(workbench: Workbench, document: Document, place: LinkPlace, bare: ShownPlace) -> ShownPlace:
    side, schema, version, attribute = node_of_place(document, place)
    if attribute is not None:
        facts = [f"Type {attribute.type_text}, {'optional' if attribute.optional else 'required'}."]
        facts += [attribute.doc] if attribute.doc else []
        facts += [_never_words(mark) for mark in schema.ignored if mark.lineage == attribute.lineage]
        events = attribute_history(workbench, side, schema.id, attribute.lineage, document)
        return replace(bare, facts=tuple(facts), events=events)
    if version is not None:
        matrix = document.matrix
        blocks = matrix.column_set(version.id) if side is Side.EXTRACTION else matrix.row_set(version.id)
        mapped = sum(len(block.elements) for block in blocks)
        words = f"{len(version.attributes):,} attributes; {mapped:,} elements in {len(blocks):,} blocks."
        return replace(bare, facts=(words,))
    labels = ", ".join(each.label for each in document.tree(side).versions(schema.id)[-10:])
    aliases = (f"Also called {', '.join(schema.aliases)}.",) if schema.aliases else ()
    return replace(bare, facts=(f"{len(schema.version_ids):,} versions, the newest last: {labels}.", *aliases))


def _never_words(mark: IgnoredAttribute) -> str:
    said = ", ".join(part for part in (mark.who, moment(mark.when_ms) if mark.when_ms else "") if part)
    return f"Never to be mapped: {mark.reason}{f' ({said})' if said else ''}."


def _block(workbench: Workbench, document: Document, place: LinkPlace, bare: ShownPlace) -> ShownPlace:
    key = block_of_place(document, place)
    block = document.matrix.block(*key)
    return replace(
        _of_block(document, key, block, bare),
        facts=tuple(_review_facts(document, place, key, block)),
        is_mapped=block is not None and bool(block.elements),
        elements=blame(workbench, key, at=document) if block is not None else (),
        events=block_history(workbench, key, document),
    )


def _review_facts(document: Document, place: LinkPlace, key: BlockKey, block: Block | None) -> Iterator[str]:
    if block is not None:
        yield from (_loss_words(loss) for loss in block.losses)
    if place.kind is PlaceKind.REVIEW:
        item = find_item(document, key)
        yield "Nothing waits here for a decision." if item is None else _item_words(item)


def _item_words(item: ReviewItem) -> str:
    later = f" It holds for {len(item.chain):,} later blocks too." if item.chain else ""
    return (
        f"It waits for a decision: {len(item.losses):,} lost elements, {len(item.type_changes):,} types changed.{later}"
    )


def _loss_words(loss: Loss) -> str:
    answer = f"answered: {loss.answer}" if loss.answer else "nobody has decided yet"
    return f"Lost {loss.from_path} -> {loss.to_path}: {loss.reason or 'it is gone'}; {answer}."


def _cell(workbench: Workbench, document: Document, place: LinkPlace, bare: ShownPlace) -> ShownPlace:
    key, element = cell_of_place(document, place)
    block = document.matrix.block(*key)
    is_mapped = block is not None and element in block.elements
    p = document.extraction.version(key[0]).attribute(element.p)
    q = document.cdm.version(key[1]).attribute(element.q)
    lineages = (q.lineage, p.lineage) if p is not None and q is not None else (0, 0)
    losses = block.losses if block is not None else ()
    return replace(
        _of_block(document, key, block, bare),
        facts=tuple(_loss_words(loss) for loss in losses if loss.lineages == lineages),
        element=ElementName(*_ends(document, key, element)),
        is_mapped=is_mapped,
        elements=blame(workbench, key, element, document) if is_mapped else (),
        events=element_history(workbench, key, lineages, document),
        messages=_messages(workbench, document, key, element),
    )


def _messages(workbench: Workbench, document: Document, key: BlockKey, element: Element) -> tuple[UsedMessage, ...]:
    use = cell_use(document, key, element)
    folders = {run_folder(workbench.project_id, run.run_id): run.run_id for run in workbench.kept.runs.newest(_RUNS)}
    found = newest_run_using(folders, use) if use is not None else None
    if use is None or found is None:
        return ()
    return tuple(UsedMessage(folders[found], each.place) for each in records_using(found / "samples", use, _MESSAGES))


def _of_block(document: Document, key: BlockKey, block: Block | None, bare: ShownPlace) -> ShownPlace:
    if block is None:
        return replace(bare, block=known_block_name(document, key))
    return replace(
        bare,
        block=known_block_name(document, key),
        status=block.status.value,
        who=block.who or None,
        when=moment(block.when_ms) if block.when_ms else None,
    )


def _state(workbench: Workbench, document: Document, _place: LinkPlace, bare: ShownPlace) -> ShownPlace:
    made = next(iter(workbench.log(1, document.state + 1)), None) if document.state else None
    if made is None:
        return replace(bare, facts=("The empty project.",))
    facts = (made.title, *((f"Called “{made.name}”.",) if made.name else ()))
    return replace(bare, facts=facts, who=made.who, when=moment(made.when_ms))


def _run(workbench: Workbench, document: Document, place: LinkPlace, bare: ShownPlace) -> ShownPlace:
    run = next((each for each in workbench.kept.runs.newest() if each.run_id == place.run), None)
    if run is None:
        raise LinkError(
            "The run of the link is not there.",
            f"{workbench.path.name} keeps no run {place.run}; old ones go when there are too many.",
            "Run the same messages again, and look at what that run set aside.",
        )
    try:
        report = msgspec.convert(run.report, RunReport, str_keys=True)
    except msgspec.ValidationError as error:
        raise LinkError(
            f"What the project keeps of run {place.run} cannot be read.",
            f"{error}.",
            "Run the same messages again, and look at what that run set aside.",
        ) from error
    counts = ("read", "mapped", "filtered", "set_aside", "skipped")
    told = ", ".join(f"{getattr(report, name):,} {name.replace('_', ' ')}" for name in counts)
    facts = [f"{report.mode.capitalize()} run with state {report.state:,}: {told}."]
    if place.kind is PlaceKind.SET_ASIDE:
        facts.append(f"{report.by_reason.get(place.reason, 0):,} of them for the reason {place.reason}.")
        facts += _mending_facts(workbench, document, place, Path(report.errors))
    return replace(bare, facts=tuple(facts), when=moment(run.when_ms))


def _mending_facts(workbench: Workbench, document: Document, place: LinkPlace, errors: Path) -> Iterator[str]:
    """Say where the first record that is meant is mended; what it says of values is not told."""
    records: list[SetAsideRecord] = []
    with contextlib.suppress(OSError, ValueError):  # a project file may name any path
        records = first_set_aside(errors, 1, place.reason, place.position) if errors.is_dir() else []
    if not records:
        yield "Its records are not kept any more."
        return
    found = mending_place(document, records[0])
    yield found.words
    for each in found.places:
        yield f"See {link_to(workbench.project_id, document, each)}"
