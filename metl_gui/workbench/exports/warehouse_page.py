"""A warehouse model as one page that people read with any browser: its star diagram and its data dictionary.

It stands alone and needs no network. Whatever names hold is text: the page allows no script but its own. What is
written stands in ``resources/pages``, which the page of a mapping shares.
Source: docs/guide/warehouse.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from metl_gui.core.counted import number_of
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.core.search.problems import Problem
from metl_gui.core.warehouse_model import Model
from metl_gui.workbench.atomic_files import write_whole
from metl_gui.workbench.exports.html_parts import short
from metl_gui.workbench.exports.page_templates import page_resource, page_style, templates
from metl_gui.workbench.json_results import JsonResult
from metl_gui.workbench.warehouse.dictionary import DictionaryTable, dictionary
from metl_gui.workbench.warehouse.models import check_models, model_of
from metl_gui.workbench.warehouse.star import (
    BOX_HEIGHT,
    BOX_WIDTH,
    NO_PLACES,
    BoxKind,
    Places,
    StarBox,
    StarLine,
    arranged,
    star_of,
)
from metl_gui.workbench.warehouse.star_lines import ARROW, LineCourse, box_area, line_courses, words_area
from metl_gui.workbench.warehouse.table_rows import table_problems

MOST_BOXES = 400
"""So many boxes are drawn; a page of a larger model has tables only."""

_MARGIN = 24.0
_LETTER, _BOLD_LETTER = 6.1, 7.3
_WORDS_HEIGHT = 16.0
_MOST_WORDS = 24
"""Where more lines have words, they stand in the title of each only."""


class WarehouseDocs(JsonResult):
    """A page that was written.

    Args:
        state: the state that it shows.
        model: the name of the model.
        tables: how many tables it has.
        path: of the page.
    """

    state: int
    model: str
    tables: int
    path: Path


def write_warehouse_page(
    document: Document, path: Path, name: str = "", moved: Places = NO_PLACES, watch: Watch = UNWATCHED
) -> WarehouseDocs:
    """Write the page of a model.

    Args:
        document: the state.
        path: of the page, written whole or not at all.
        name: of the model, the only one by default.
        moved: where a person put boxes of the diagram.
        watch: progress and cancel.

    Raises:
        EditError: there is no such model.
        ProjectError: the file cannot be written.
    """
    model = model_of(document, name)
    watch.step("Collecting the tables")
    write_whole(path, "".join(warehouse_page(document, model, moved)).encode())
    return WarehouseDocs(document.state, model.name, len(model.tables), path)


def warehouse_page(document: Document, model: Model, moved: Places = NO_PLACES) -> Iterator[str]:
    """Yield the page of a model piece by piece."""
    problems = check_models(document, model.name).problems
    tables = [
        _TablePart(table, number, table_problems(model, table.name, problems))
        for number, table in enumerate(dictionary(document, model), 1)
    ]
    yield from (
        templates()
        .get_template("dictionary.html.jinja")
        .generate(
            title=model.name,
            style=page_style("mapping.css", "dictionary.css"),
            script=page_resource("mapping.js"),
            state=document.state,
            figures=_figures(tables, problems),
            tables=tables,
            numbers={part.table.name: part.number for part in tables},
            picture=_picture(model, tables, problems, moved),
            box_wide=BOX_WIDTH,
            box_high=BOX_HEIGHT,
            most_boxes=MOST_BOXES,
            own=[one for one in problems if one.place == model.name],
        )
    )


class _TablePart(NamedTuple):
    """A table on the page."""

    table: DictionaryTable
    number: int
    problems: tuple[Problem, ...]


class _Total(NamedTuple):
    number: int
    words: str
    waits: bool = False


def _figures(tables: Sequence[_TablePart], problems: Sequence[Problem]) -> Iterator[_Total]:
    kinds = Counter(part.table.kind for part in tables)
    for kind, number in kinds.items():
        yield _Total(number, number_of(number, kind).partition(" ")[2])
    yield _Total(sum(len(part.table.columns) for part in tables), "columns")
    if problems:
        yield _Total(len(problems), number_of(len(problems), "problem").partition(" ")[2], True)


class _DrawnBox(NamedTuple):
    """A box of the diagram: where it lies, and what is written in it."""

    box: StarBox
    x: float
    y: float
    name: str
    facts: str
    number: int | None

    @property
    def kind(self) -> BoxKind:
        """As what it is drawn."""
        return self.box.kind

    @property
    def pad(self) -> float:
        """How far words stand from its edge."""
        return 18 if self.kind is BoxKind.DATE else 12


class _DrawnLine(NamedTuple):
    """A line of the diagram; where ``words`` stand, and as far as there is room for them."""

    line: StarLine
    course: LineCourse
    area: tuple[float, float, float, float] | None
    words: str

    @property
    def path(self) -> str:
        """Its course, as SVG has it."""
        points = (self.course.first, self.course.leaves, self.course.arrives, self.course.last)
        first, *others = (f"{x:g} {y:g}" for x, y in points)
        return f"M{first}C{','.join(others)}"

    @property
    def head(self) -> str:
        """The head of its arrow."""
        (x, y), back = self.course.last, self.course.comes_from * ARROW * 1.5
        return f"M{x:g} {y:g}L{x - back:g} {y - ARROW:g}V{y + ARROW:g}Z"


class _Picture(NamedTuple):
    """The diagram: the area that it shows, boxes and lines."""

    left: float
    top: float
    wide: float
    high: float
    boxes: tuple[_DrawnBox, ...]
    lines: tuple[_DrawnLine, ...]


def _picture(model: Model, tables: Sequence[_TablePart], problems: Sequence[Problem], moved: Places) -> _Picture | None:
    """Lay the diagram out; ``None`` where it has too many boxes, or none."""
    star = star_of(model, (), problems)
    if not star.boxes or len(star.boxes) > MOST_BOXES:
        return None
    places = arranged(star, moved)
    numbers = {f"table:{part.table.name}": part.number for part in tables}
    boxes = tuple(_drawn(box, places[key], numbers.get(key)) for key, box in star.boxes.items())
    left, top = (min(place[axis] for place in places.values()) - _MARGIN for axis in (0, 1))
    right = max(x for x, _ in places.values()) + BOX_WIDTH + _MARGIN * 2
    bottom = max(y for _, y in places.values()) + BOX_HEIGHT + _MARGIN
    lines = tuple(_drawn_lines(line_courses(star, places), places))
    return _Picture(left, top, right - left, bottom - top, boxes, lines)


def _drawn(box: StarBox, place: tuple[float, float], number: int | None) -> _DrawnBox:
    room = BOX_WIDTH - (36 if box.kind is BoxKind.DATE else 24) - (14 if box.problem else 0)
    name, facts = short(box.name, int(room / _BOLD_LETTER)), short(box.facts, int(room / _LETTER))
    return _DrawnBox(box, *place, name, facts, number)


def _drawn_lines(courses: dict[StarLine, LineCourse], places: Places) -> Iterator[_DrawnLine]:
    taken = [box_area(place) for place in places.values()]
    is_calm = sum(bool(line.words) for line in courses) <= _MOST_WORDS
    for line, course in courses.items():
        words, area = short(line.words, int(BOX_WIDTH / _LETTER)), None
        if words and is_calm:
            area = words_area(course, (len(words) * _LETTER + 8, _WORDS_HEIGHT), taken)
            taken.append(area)
        yield _DrawnLine(line, course, area, words)
