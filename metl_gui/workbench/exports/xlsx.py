"""``xlsx``: the mapping as a workbook for people, whose sheet ``Mapping`` goes back in with ``metl map``.

Sheets: what it is, every element, every block, what was lost and waits, the gaps, the canonical model with what feeds
it, what people said, and what the words mean. Names that look like formulas stay texts. Source: docs/guide/exports.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO

from metl_gui.core.counted import number_of
from metl_gui.core.glossary import WORDS
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.core.project.comments import Comments
from metl_gui.core.project.masks import hidden_targets
from metl_gui.core.search.gaps import gaps
from metl_gui.core.trees.types import is_readable
from metl_gui.errors import EditError, SchemaError
from metl_gui.registry.tables.cells import LONG_COLUMNS, LONG_TEXTS, LongTexts
from metl_gui.registry.tables.mapping_table import COLUMNS, OPTIONAL_COLUMNS, SHEET
from metl_gui.registry.tables.workbook import MAX_ROWS, check_readable
from metl_gui.workbench.exports.blocks import ExportedBlock, carried, day_of, spot_words
from metl_gui.workbench.exports.format_spec import Choices, Export
from metl_gui.workbench.workbook_writer import Row, SheetColumn, SheetPlan, write_workbook

_WIDTHS = (30, 9, 30, 20, 9, 30)
_MAPPING = (
    *(SheetColumn(title, width, is_text=True) for title, width in zip(COLUMNS, _WIDTHS, strict=True)),
    SheetColumn(OPTIONAL_COLUMNS[0], 14, is_asked=True, choices=("confirmed", "unconfirmed")),
    SheetColumn(OPTIONAL_COLUMNS[1], 40, is_asked=True, is_text=True),
    SheetColumn("type", 16),
    SheetColumn("CDM type", 16),
    SheetColumn("note", 34),
)
_BLOCKS = (
    *(
        SheetColumn(title, width)
        for title, width in (("schema", 30), ("version", 9), ("entity", 20), ("entity version", 9))
    ),
    *(
        SheetColumn(title, width)
        for title, width in (("status", 14), ("production", 30), ("elements", 10), ("lost", 8))
    ),
    *(SheetColumn(title, width) for title, width in (("who", 16), ("when", 12), ("comment", 44))),
)
_LOSSES = (
    *(
        SheetColumn(title, width)
        for title, width in (("schema", 30), ("version", 9), ("entity", 20), ("entity version", 9))
    ),
    *(SheetColumn(title, width) for title, width in (("lost attribute", 30), ("CDM attribute", 30), ("reason", 60))),
)
_MODEL = (
    *(
        SheetColumn(title, width)
        for title, width in (("entity", 20), ("version", 9), ("CDM attribute", 30), ("type", 16))
    ),
    *(SheetColumn(title, width) for title, width in (("required", 10), ("values", 10), ("sources", 9))),
    *(SheetColumn(title, width) for title, width in (("fed by", 50), ("documentation", 60))),
)
_GAPS = (
    *(
        SheetColumn(title, width)
        for title, width in (("where", 40), ("attribute", 30), ("gap", 70), ("what to do", 60))
    ),
)
_WORDS = SheetColumn("word", 24), SheetColumn("means", 110)
_SAID = (*(SheetColumn(title, width) for title, width in (("about", 60), ("comment", 70), ("who", 16), ("when", 12))),)
_NAMED = 20


def workbook(document: Document, choices: Choices, watch: Watch, target: Path | IO[bytes]) -> tuple[str, ...]:
    """Write what ``xlsx`` holds, and return what it had to leave out.

    Raises:
        EditError: there is more than a sheet that is read back can hold.
    """
    blocks = list(carried(document, choices.include_unconfirmed, watch, "Collecting the mapping"))
    if sum(len(block.lines) for block in blocks) >= MAX_ROWS:
        raise _too_much(f"Its sheet may have {MAX_ROWS - 1:,} elements, or it cannot be read back.")
    cut: list[str] = []
    sheets = _sheets(document, choices, blocks, cut)
    about = f"The mapping at state {document.state}"
    write_workbook(target, sheets, about=about, when_ms=choices.beside.when_ms, watch=watch)
    return tuple(cut)


def _sheets(
    document: Document, choices: Choices, blocks: Sequence[ExportedBlock], cut: list[str]
) -> Iterator[SheetPlan]:
    """Yield the sheets; what is too long for one that people read ends early, which ``cut`` is told."""
    longs = LongTexts()

    def plan(name: str, columns: tuple[SheetColumn, ...], rows: Iterable[Row]) -> SheetPlan:
        shown = (tuple(longs.cell(each) if isinstance(each, str) else each for each in row) for row in rows)
        return SheetPlan(name, columns, _ended(shown, name, cut))

    comments = Comments(document, choices.comments)
    yield SheetPlan("About", (SheetColumn("About", 110),), ((line,) for line in _about(document, choices, blocks)))
    yield plan(SHEET, _MAPPING, (row for block in blocks for row in _element_rows(block)))
    yield plan("Blocks", _BLOCKS, (_block_row(block) for block in blocks))
    yield plan("Open losses", _LOSSES, (row for block in blocks for row in _loss_rows(block)))
    yield plan("Gaps", _GAPS, _gap_rows(document))
    yield plan("Canonical model", _MODEL, _model_rows(document, blocks))
    if comments:
        yield plan("Comments", _SAID, _comment_rows(document, comments))
    yield SheetPlan("Glossary", _WORDS, ((each.word, f"{each.means}.") for each in WORDS))
    if longs.rows():
        columns = tuple(SheetColumn(title, width) for title, width in zip(LONG_COLUMNS, (9, 6, 100), strict=True))
        yield SheetPlan(LONG_TEXTS, columns, longs.rows())


def _ended(rows: Iterable[Row], name: str, cut: list[str]) -> Iterator[Row]:
    for at, row in enumerate(rows):
        if at == MAX_ROWS - 1:
            cut.append(f"The sheet {name} ends after {at:,} rows; there are more.")
            return
        yield row


def _about(document: Document, choices: Choices, blocks: Sequence[ExportedBlock]) -> Iterator[str]:
    yield f"The mapping at state {document.state}, hash {state_hash(document)}."
    held = sum(block.is_held for block in blocks)
    lines = sum(len(block.lines) for block in blocks)
    size = f"{number_of(lines, 'element')} in {number_of(len(blocks), 'block')}"
    yield f"It has {size}, {held:,} of which wait for a review."
    loose = "are here too" if choices.include_unconfirmed else "are left out"
    yield f"Blocks that nobody has confirmed {loose}."
    yield f"{SHEET}: one element a row. Change rows, add some, delete some, and read it back:"
    yield "    metl map PROJECT --xlsx FILE              adds the elements that are listed"
    yield "    metl map PROJECT --xlsx FILE --replace    makes the named blocks equal to the list"
    yield "Only the columns up to “comment” are read; columns may be moved, rows may be sorted."
    yield "Blocks: who decided what, and what production does with the messages of each."
    yield "Open losses: what a new version took away, and nobody has decided on yet."
    yield "Gaps: what nothing feeds, and what feeds nothing, with what can be done."
    yield "Canonical model: every attribute of the newest version of each entity, and what feeds it."
    yield "Glossary: what the words mean."


def _element_rows(block: ExportedBlock) -> Iterator[Row]:
    schema, version, entity, entity_version = block.names
    for line in block.lines:
        source, target = line.source, line.target
        note = "" if is_readable(source, target) else "type differs; values pass unchanged"
        ends = schema, version, source.path, entity, entity_version, target.path
        said = block.block.status.value, block.block.comment
        yield (*ends, *said, source.type_text, target.type_text, note)


def _block_row(block: ExportedBlock) -> Row:
    told = block.block.status.value, block.in_production, len(block.lines), len(block.block.open_losses)
    return (*block.names, *told, block.who, block.day, block.block.comment)


def _loss_rows(block: ExportedBlock) -> Iterator[Row]:
    for loss in block.block.open_losses:
        yield (*block.names, loss.from_path, loss.to_path, loss.reason)


def _model_rows(document: Document, blocks: Sequence[ExportedBlock]) -> Iterator[Row]:
    """Tell every attribute of the newest entity versions with the schemas whose newest mapped version feeds it."""
    fed: dict[int, dict[str, str]] = defaultdict(dict)
    for block in blocks:
        for line in block.lines:
            fed[line.target.id][block.schema.name] = line.source.path
    for entity in sorted(document.cdm.schemas(), key=lambda entity: entity.name):
        newest = document.cdm.newest(entity.id)
        if newest is None:
            continue
        hidden = hidden_targets(document, entity.name, newest.label)
        for attribute in newest.attributes:
            sources = [f"{name}: {path}" for name, path in fed[attribute.id].items()]
            more = f", and {len(sources) - _NAMED:,} more" if len(sources) > _NAMED else ""
            need = "no" if attribute.optional else "yes"
            yield (
                entity.name,
                newest.label,
                attribute.path,
                attribute.type_text,
                need,
                "masked" if attribute.path in hidden else "",
                len(sources),
                f"{', '.join(sources[:_NAMED])}{more}",
                attribute.doc,
            )


def _gap_rows(document: Document) -> Iterator[Row]:
    for gap in gaps(document):
        yield gap.problem.place, gap.path, gap.problem.message, gap.problem.hint


def _comment_rows(document: Document, comments: Comments) -> Iterator[Row]:
    for comment in comments.all:
        yield spot_words(document, comment), comment.text, comment.who, day_of(comment.when_ms)


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    cut = workbook(document, choices, watch, path)
    try:
        check_readable(path)
    except SchemaError as error:
        raise _too_much(error.text) from error
    return (*cut, *_says(document, choices))


def _too_much(fact: str) -> EditError:
    return EditError("That is too much for one workbook.", fact, "Take the format csv, which has no such limit.")


def _says(document: Document, choices: Choices) -> Iterator[str]:
    waiting = sum(1 for key in document.matrix.waiting() if document.matrix.block(*key) is not None)
    if waiting:
        are = "needs" if waiting == 1 else "need"
        yield f"{number_of(waiting, 'block')} {are} review: read into another project, what is left comes unconfirmed."
    empty = [block for block in document.matrix.blocks() if block.comment and not block.elements]
    if empty:
        yield f"Comments of {number_of(len(empty), 'block')} without elements are shown and not read back."
    if choices.comments:
        yield "What people said in the comments panel is shown and not read back."


XLSX = Export(
    "xlsx",
    "A workbook for people that can be read back",
    ".xlsx",
    _write,
    limits=(
        "Trees, keys, lineages and settings are not in the sheet that is read back; json carries them.",
        f"At most {MAX_ROWS - 1:,} elements fit.",
    ),
)
