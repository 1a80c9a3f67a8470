"""What the matrix says in words: to screen readers at each step of the cursor, and in tooltips."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

import numpy as np

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.blocks import Block, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.comments import Comments
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.ui.matrix.input.hit_test import item_of
from metl_gui.ui.matrix.input.selected_content import lost_words
from metl_gui.ui.matrix.layout.axis import Level
from metl_gui.ui.matrix.layout.content import PlaneContent
from metl_gui.ui.matrix.painting.overlay import Ghost
from metl_gui.ui.project.block_lists import Note, RefusedWords, takes_all
from metl_gui.ui.project.selection import NodeRef, Selected
from metl_gui.ui.project.text import path_of, place_words, schema_name, verdict_words, version_words

_MOST_LABELS = 6


def spoken(content: PlaneContent, selected: Selected, ghosts: tuple[Ghost, ...]) -> str:
    """Say where the cursor is: the two names, then the state of a cell or the numbers of a tile."""
    source, target = selected.source, selected.target
    if source is None or target is None:
        return ""
    document = content.document
    key, element = selected.block, selected.element
    if key is None or element is None:
        names = f"{_name(document, Side.CDM, target)} from {_name(document, Side.EXTRACTION, source)}"
        lost = lost_words(content, selected)
        return ", ".join([names, *_numbers(content, selected), *([lost] if lost else [])])
    names = (
        f"{path_of(document, Side.CDM, key[1], element.q)} from {path_of(document, Side.EXTRACTION, key[0], element.p)}"
    )
    ghost = next((each for each in ghosts if (each.key, each.element) == (key, element)), None)
    return f"{names}, {_state(document, document.matrix.block(*key), selected, ghost)}"


def _no_values(_side: Side, _place: NodeRef) -> str:
    return ""


def tip(
    content: PlaneContent,
    selected: Selected,
    ghosts: tuple[Ghost, ...],
    notes: Callable[[Side, NodeRef], Note],
    comments: Comments,
    values: Callable[[Side, NodeRef], str] = _no_values,
    refused: RefusedWords = takes_all,
) -> str:
    """Return the tooltip of a cell, tile or header, as rich text.

    Args:
        content: what is shown.
        selected: what lies under the pointer.
        ghosts: the suggestions that are shown.
        notes: what people said of a node.
        comments: what they said of elements.
        values: a line on the sample values of a node.
        refused: what typed columns refuse of the sampled values of a cell.
    """
    document = content.document
    parts = [
        _node(document, side, place, notes(side, place), values(side, place))
        for side, place in ((Side.EXTRACTION, selected.source), (Side.CDM, selected.target))
        if place is not None
    ]
    key, element = selected.block, selected.element
    block = document.matrix.block(*key) if key is not None else None
    if element is not None:
        ghost = next((each for each in ghosts if (each.key, each.element) == (key, element)), None)
        state = _state(document, block, selected, ghost, refused)
        parts.append(escape(f"{state}: {ghost.reason}" if ghost is not None else state))
        said = comments.of_element(key, element) if key is not None else ()
        parts += [f"“{escape(comment.text)}”" for comment in said]
    elif selected.source is not None and selected.target is not None:
        parts.append(escape(", ".join(_numbers(content, selected))))
    if block is not None and block.comment:
        parts.append(f"<i>{escape(block.comment)}</i>")
    return "<p style='white-space:pre-wrap'>" + "<br>".join(parts) + "</p>"


def counted(content: PlaneContent, selected: Selected) -> str:
    """Return the numbers of a tile; nothing for a cell, which has none."""
    if selected.element is not None or selected.source is None or selected.target is None:
        return ""
    return ", ".join(_numbers(content, selected))


_OF_BLOCK = {Status.NEEDS_REVIEW: "the block needs review", Status.UNCONFIRMED: "not confirmed"}


def _state(
    document: Document,
    block: Block | None,
    selected: Selected,
    ghost: Ghost | None,
    refused: RefusedWords = takes_all,
) -> str:
    element = selected.element
    if block is not None and element is not None and element in block.elements:
        of_types = refused(block.key, element) or verdict_words(_verdict(document, block, element))
        words = "mapped", _OF_BLOCK.get(block.status, ""), of_types
        return ", ".join(filter(None, words))
    if ghost is not None:
        return f"suggested, {ghost.score:.2f}"
    lost = next((x for x in block.open_losses if (x.q, x.p) == element), None) if block is not None else None
    if lost is not None:
        return f"waits for a decision: {lost.reason}"
    taken = (
        []
        if block is None or element is None
        else [
            what
            for what, is_taken in (
                ("row", any(e.q == element.q for e in block.elements)),
                ("column", any(e.p == element.p for e in block.elements)),
            )
            if is_taken
        ]
    )
    return f"not mapped, {' and '.join(taken)} taken" if taken else "not mapped"


def _verdict(document: Document, block: Block, element: Element) -> TypeVerdict:
    source = document.extraction.version(block.version).attribute(element.p)
    target = document.cdm.version(block.entity_version).attribute(element.q)
    return type_verdict(source, target) if source is not None and target is not None else TypeVerdict.LOSSLESS


def _numbers(content: PlaneContent, selected: Selected) -> list[str]:
    """Count what is mapped of the tile of two nodes, what is not, and what asks for something."""
    levels = [_level(place) for place in (selected.source, selected.target)]
    x = item_of(content.columns, levels[0], selected.source)
    y = item_of(content.rows, levels[1], selected.target)
    if x is None or y is None:
        return ["0 mapped"]
    counts = content.counts(*levels)
    tile, room = counts.at(x, y), int(counts.room(np.array([x]), np.array([y]))[0])
    words = [f"{tile.elements:,} mapped", f"{max(room - tile.elements, 0):,} unmapped"]
    words += [f"{tile.waiting:,} waiting for review"] if tile.waiting else []
    words += [f"{tile.flagged:,} that typed columns may refuse"] if tile.flagged else []
    return words


def _level(place: NodeRef | None) -> Level:
    if place is None or place.version is None:
        return Level.SCHEMA
    return Level.VERSION if place.attribute is None else Level.ATTRIBUTE


def _name(document: Document, side: Side, place: NodeRef) -> str:
    if place.version is None:
        return schema_name(document, side, place.schema)
    if place.attribute is None:
        return version_words(document, side, place.version)
    return path_of(document, side, place.version, place.attribute)


def _node(document: Document, side: Side, place: NodeRef, note: Note, values: str) -> str:
    """Name a node with its type, the versions that have it, its documentation, values, and what people said of it."""
    lines = [place_words(document, side, place)]
    version = document.tree(side).find_version(place.version) if place.version is not None else None
    attribute = version.attribute(place.attribute) if version is not None and place.attribute is not None else None
    if attribute is not None:
        facts = [attribute.type_text, "optional" if attribute.optional else "required"]
        lines[0] += f" · {escape(', '.join(facts))}"
        lines.append(escape(_versions(document, side, place.schema, attribute)))
        if attribute.doc:
            lines.append(f"<i>{escape(attribute.doc)}</i>")
    elif place.version is None and document.tree(side).find_schema(place.schema) is not None:
        count = len(document.tree(side).schema(place.schema).version_ids)
        lines[0] += f" · {number_of(count, 'version')}"
    lines += ["masked"] if note.is_masked else [escape(line) for line in values.splitlines()]
    lines += [escape(note.ignored)] if note.ignored else []
    lines += [f"“{escape(note.comment)}”"] if note.comment else []
    return "<br>".join(lines)


def _versions(document: Document, side: Side, schema_id: int, attribute: Attribute) -> str:
    found = [v.label for v in document.tree(side).versions(schema_id) if v.of_lineage(attribute.lineage) is not None]
    if len(found) > _MOST_LABELS:
        found = [found[0], "…", *found[-2:]]
    return f"in version{'' if len(found) == 1 else 's'} {', '.join(found)}"
