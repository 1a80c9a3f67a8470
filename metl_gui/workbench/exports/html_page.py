"""``html``: the mapping as one page that people read with any browser, with nothing beside it and no network.

It has the whole picture, a part for each entity with what feeds it, what waits, the gaps, what people said and what the
words mean; a search; light and dark; and it prints. Names are text whatever they hold, and the page allows no script
but its own. What is written stands in templates of Jinja (``resources/pages``), which escape all that they are given.
Source: docs/guide/exports.md; docs/guide/mapping.md, "Look" (colours, marks).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from metl_gui.core.glossary import WORDS
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import Comments
from metl_gui.core.project.masks import hidden_targets
from metl_gui.core.search.gaps import gaps, problems_of
from metl_gui.core.search.todo import progress_of
from metl_gui.core.trees.nodes import Attribute, Side
from metl_gui.core.trees.types import is_readable
from metl_gui.workbench.exports.blocks import ExportedBlock, carried, day_of, spot_words
from metl_gui.workbench.exports.format_spec import Choices, Export
from metl_gui.workbench.exports.html_parts import (
    MOST_ATTRIBUTES,
    MOST_TILES,
    EntityPart,
    entity_parts,
    near,
    overview,
)
from metl_gui.workbench.exports.page_templates import page_resource, page_style, templates

_MOST_GAPS = 5_000
_FED_BY = 12
_LIMITS = (
    "It is for reading: xlsx, csv and json can be read back, a page cannot.",
    "Attributes of extraction schemas that nothing uses are not listed; blocks show how many there are.",
    f"Blocks of more than {MOST_ATTRIBUTES} attributes on a side have a table and no picture.",
)


def page(document: Document, choices: Choices, watch: Watch) -> Iterator[str]:
    """Yield the page piece by piece."""
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Collecting the mapping"))
    parts = entity_parts(document.cdm, blocks)
    found = problems_of(gaps(document))
    shown_gaps = list(islice(found, _MOST_GAPS))
    yield from (
        templates()
        .get_template("mapping.html.jinja")
        .generate(
            title=choices.beside.project or "Mapping",
            style=page_style("mapping.css"),
            script=page_resource("mapping.js"),
            state=document.state,
            day=day_of(choices.beside.when_ms),
            hash=state_hash(document),
            include_unconfirmed=choices.include_unconfirmed,
            figures=_figures(blocks, parts),
            has_blocks=bool(blocks),
            most_tiles=MOST_TILES,
            overview=overview(parts),
            parts=parts,
            watched=partial(_watched, watch),
            attribute_rows=partial(_attribute_rows, document),
            fed_by=_FED_BY,
            is_readable=is_readable,
            near=near,
            gaps=shown_gaps,
            more_gaps=sum(1 for _ in found),
            never_mapped=_never_mapped(document),
            comments=_comments(document, choices),
            words=WORDS,
            limits=(*_LIMITS, *_says(parts, blocks)),
        )
    )


def _never_mapped(document: Document) -> str:
    """Say how many attributes are no gaps because they are never to be mapped; empty for none."""
    count = sum(progress_of(document, side).ignored for side in Side)
    if not count:
        return ""
    return f" {count:,} attribute{' is' if count == 1 else 's are'} never to be mapped, and no gap{'s' * (count > 1)}."


def _watched(watch: Watch, parts: Sequence[EntityPart]) -> Iterator[EntityPart]:
    for at, part in enumerate(parts):
        watch.step("Writing the entities", at, len(parts))
        yield part
    watch.step("Writing what else there is to say")


class _Total(NamedTuple):
    number: int
    words: str
    waits: bool = False


def _figures(blocks: Sequence[ExportedBlock], parts: Sequence[EntityPart]) -> tuple[_Total, ...]:
    waits = sum(part.waits for part in parts)
    return (
        _Total(len({part.entity.id for part in parts}), "entities"),
        _Total(len({block.schema.id for block in blocks}), "schemas that feed them"),
        _Total(len(blocks), "blocks"),
        _Total(sum(len(block.lines) for block in blocks), "elements"),
        _Total(waits, "blocks wait for a decision", bool(waits)),
    )


class _AttributeRow(NamedTuple):
    """An attribute of an entity.

    Args:
        sources: names of the schemas that feed it.
        is_missing: it is required, and nothing feeds it.
    """

    attribute: Attribute
    sources: list[str]
    notes: list[str]
    is_missing: bool


def _attribute_rows(document: Document, part: EntityPart) -> Iterator[_AttributeRow]:
    hidden = hidden_targets(document, part.entity.name, part.version.label)
    fed: dict[int, dict[str, None]] = {}
    for stretch in part.stretches:
        for block in stretch.blocks:
            for line in block.lines:
                fed.setdefault(line.target.id, {})[block.schema.name] = None
    for attribute in part.version.attributes:
        sources = list(fed.get(attribute.id, ()))
        notes = [] if attribute.optional else ["required"]
        if attribute.path in hidden:
            notes.append("values masked")
        yield _AttributeRow(attribute, sources, notes, not sources and not attribute.optional)


class _CommentRow(NamedTuple):
    about: str
    text: str
    who: str
    day: str


def _comments(document: Document, choices: Choices) -> list[_CommentRow]:
    return [
        _CommentRow(spot_words(document, comment), comment.text, comment.who, day_of(comment.when_ms))
        for comment in Comments(document, choices.comments).all
    ]


def _says(parts: Sequence[EntityPart], blocks: Sequence[ExportedBlock]) -> Iterator[str]:
    if blocks and not overview(parts):
        yield f"The picture of all blocks is left out: it would have more than {MOST_TILES:,} tiles."


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(page(document, choices, watch))
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Looking for what cannot be said"))
    return tuple(_says(entity_parts(document.cdm, blocks), blocks))


HTML = Export("html", "A page that people read with any browser and print", ".html", _write, limits=_LIMITS)
