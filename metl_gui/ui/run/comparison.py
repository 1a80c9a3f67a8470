"""Two runs side by side: what was read, by entity, set aside, by version, and how full each attribute is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QHeaderView, QTableView, QVBoxLayout, QWidget

from metl_gui.ui.messages.set_aside import reason_kind, reason_tip
from metl_gui.ui.project.text import duration_ns, size
from metl_gui.ui.run.progress import kind_words, moment_words
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.links.set_aside import reason_title
from metl_gui.workbench.runs.history import FigureComparison, FillRate, PastRun, RunComparison, compare_runs

FIGURE, ENTITY, REASON, VERSION, FILLED = "figure", "entity", "reason", "version", "filled"
_NOTHING = "Choose two runs in the history with Ctrl+click, or one and then Compare with…, to see what changed."
_TITLES = {FIGURE: "Figures", ENTITY: "By entity", REASON: "Set aside", VERSION: "Read", FILLED: "Filled attributes"}
_FIRST = {FIGURE: "", ENTITY: "messages of", REASON: "reason", VERSION: "schema and version", FILLED: "attribute"}
_FOUR = {FIGURE: (0, 0, 1, 1), ENTITY: (1, 0, 1, 1), REASON: (0, 1, 1, 1), VERSION: (1, 1, 1, 1)}
_WIDE = _FOUR | {FILLED: (0, 2, 2, 1)}
_NARROW = _FOUR | {FILLED: (2, 0, 1, 2)}
"""Row, column, rows and columns of each card: three columns where there is room, else two."""
_ROOM_FOR_THREE_PX = 1_180
_A = 1
_SAME = "="


class ComparisonCell(Value):
    """What somebody wants to see of a comparison.

    Args:
        run: of which run; the second one where no column of a run was meant.
        kind: ``FIGURE``, ``ENTITY``, ``REASON``, ``VERSION`` or ``FILLED``.
        name: of the figure, entity, reason or version; ``entity@version`` of an attribute.
        path: of the attribute.
    """

    run: PastRun
    kind: str
    name: str
    path: str = ""


class ComparisonPanel(QWidget):
    """Five cards; every number leads to what it counts.

    Signals:
        followed: a ``ComparisonCell``.
    """

    followed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.comparison: RunComparison | None = None
        self._names: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _TITLES}
        self.title = Elided("", "heading")
        self.nothing = plain_label(_NOTHING, "dim")
        self.nothing.setWordWrap(True)
        self.swap = KeyButton("Swap", kind="link")
        self.swap.set_height(22)
        self.models: dict[str, TableModel] = {}
        self.tables: dict[str, QTableView] = {}
        self._cards = QWidget()
        self._card_of: dict[str, QFrame] = {}
        self._is_wide: bool | None = None
        self._build()
        self.swap.clicked.connect(self._swap)
        self.clear()

    def clear(self) -> None:
        """Show that nothing is compared."""
        self.comparison = None
        self._cards.hide()
        self.swap.hide()
        self.title.setText("")
        self.nothing.show()

    def show_comparison(self, comparison: RunComparison) -> None:
        """Show two runs."""
        self.comparison = comparison
        a, b = comparison.a, comparison.b
        self.title.setText(f"{_run_words(a)}   →   {_run_words(b)}")
        self._fill(FIGURE, [_figure_row(each, _writer(each.name)) for each in comparison.rows])
        self._fill(ENTITY, [_figure_row(each, _count) for each in _changed_first(comparison.by_entity)])
        self._fill(REASON, [_reason_row(each) for each in _changed_first(comparison.by_reason)])
        skipped = [FigureComparison(f"skipped: {each.name}", each.a, each.b) for each in comparison.by_skip]
        versions = _changed_first((*comparison.by_version, *skipped))
        self._fill(VERSION, [_version_row(each) for each in versions])
        self._fill(FILLED, [_filled_row(each) for each in comparison.fill_rates])
        self._names = {
            FIGURE: [(each.name, "") for each in comparison.rows],
            ENTITY: [(each.name, "") for each in _changed_first(comparison.by_entity)],
            REASON: [(each.name, "") for each in _changed_first(comparison.by_reason)],
            VERSION: [(each.name, "") for each in versions],
            FILLED: [(each.entity, each.path) for each in comparison.fill_rates],
        }
        self.nothing.hide()
        self._cards.show()
        self.swap.show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the cards into two columns where three would cut their names."""
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        is_wide = self.width() >= themes.px(_ROOM_FOR_THREE_PX)
        if is_wide is self._is_wide:
            return
        self._is_wide = is_wide
        for kind, (row, column, rows, columns) in (_WIDE if is_wide else _NARROW).items():
            self._grid.addWidget(self._card_of[kind], row, column, rows, columns)
        for column in range(3):
            self._grid.setColumnStretch(column, 1 if is_wide or column < 2 else 0)
        for row in range(3):
            self._grid.setRowStretch(row, 0 if is_wide and row == 2 else 1)

    def _fill(self, kind: str, rows: list[tuple[TableCell, ...]]) -> None:
        self.models[kind].show_rows(rows)

    def _swap(self) -> None:
        if self.comparison is not None:
            self.show_comparison(compare_runs(self.comparison.b, self.comparison.a))

    def _choose(self, index: QModelIndex) -> None:
        kind = next((kind for kind, model in self.models.items() if model is index.model()), "")
        if self.comparison is None or not kind or not 0 <= index.row() < len(self._names[kind]):
            return
        name, path = self._names[kind][index.row()]
        run = self.comparison.a if index.column() == _A else self.comparison.b
        self.followed.emit(ComparisonCell(run, kind, name, path))

    def _build(self) -> None:
        self._grid = QGridLayout(self._cards)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        for kind, title in _TITLES.items():
            numbers = [TableCell(words, is_number=True) for words in ("first", "second", "change")]
            model = self.models[kind] = TableModel([TableCell(_FIRST[kind]), *numbers])
            table = self.tables[kind] = make_table(f"{title} of both runs", model)
            header = table.horizontalHeader()
            header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
            header.setMinimumSectionSize(56)
            table.clicked.connect(self._choose)
            table.activated.connect(self._choose)
            self._card_of[kind] = _card(title, table)
        self._place()
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.swap)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addLayout(head)
        layout.addWidget(self.nothing)
        layout.addWidget(self._cards, 1)
        layout.addStretch()


def _card(title: str, table: QTableView) -> QFrame:
    card = QFrame()
    card.setProperty("surface", "card")
    inside = QVBoxLayout(card)
    inside.setContentsMargins(12, 8, 12, 8)
    inside.setSpacing(4)
    inside.addWidget(plain_label(title, "heading"))
    inside.addWidget(table, 1)
    return card


def _run_words(run: PastRun) -> str:
    return f"{kind_words(run.report.as_json())} of state {run.state:,}, {moment_words(run.when_ms)}"


def _changed_first(figures: Sequence[FigureComparison]) -> list[FigureComparison]:
    return sorted(figures, key=lambda each: (-abs(each.change or 0.0), -(each.b or 0.0), each.name))


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _writer(name: str) -> Callable[[float], str]:
    """Return what writes a figure of a name, by the unit that the name has."""
    writers: dict[str, Callable[[float], str]] = {
        "bytes in": size,
        "bytes out": size,
        "seconds": lambda value: f"{value:,.1f} s",
        "kernel ns a record": duration_ns,
    }
    return writers.get(name, _count)


def _figure_row(figure: FigureComparison, words: Callable[[float], str]) -> tuple[TableCell, ...]:
    name = "kernel, a record" if figure.name == "kernel ns a record" else figure.name
    return TableCell(name), *_numbers(figure, words)


def _reason_row(figure: FigureComparison) -> tuple[TableCell, ...]:
    cell = TableCell(reason_title(figure.name), pill=reason_kind(figure.name), tip=reason_tip(figure.name))
    return cell, *_numbers(figure, _count)


def _version_row(figure: FigureComparison) -> tuple[TableCell, ...]:
    schema, _, label = figure.name.rpartition("@")
    return TableCell(f"{schema} {label}" if schema else figure.name), *_numbers(figure, _count)


def _numbers(figure: FigureComparison, words: Callable[[float], str]) -> tuple[TableCell, TableCell, TableCell]:
    values = [TableCell("-" if each is None else words(each), is_number=True) for each in (figure.a, figure.b)]
    return values[0], values[1], TableCell(_change_words(figure, words), is_number=True, is_link=figure.differs)


def _change_words(figure: FigureComparison, words: Callable[[float], str]) -> str:
    change = figure.change
    if change is None:
        return "new" if figure.a is None else "gone"
    if not change:
        return _SAME
    sign = "+" if change > 0 else "\u2212"
    if figure.a:
        percent = abs(100 * change / figure.a)
        return f"{sign}{percent:,.1f} %" if percent >= 0.1 else f"{sign}{words(abs(change))}"
    return f"{sign}{words(abs(change))}"


def _filled_row(rate: FillRate) -> tuple[TableCell, ...]:
    entity, _, label = rate.entity.rpartition("@")
    cells = []
    for share, filled, messages in (
        (rate.rate_a, rate.filled_a, rate.messages_a),
        (rate.rate_b, rate.filled_b, rate.messages_b),
    ):
        words = "-" if share is None else f"{100 * share:.1f} %"
        cells.append(TableCell(words, is_number=True, tip=f"{filled:,} of {messages:,} messages"))
    points = 100 * rate.change
    sign = "+" if points > 0 else "\u2212"
    change = f"{sign}{abs(points):.1f} pt" if abs(points) >= 0.05 else _SAME
    name = TableCell(f"{entity} {label} {rate.path}")
    return name, *cells, TableCell(change, is_number=True, is_link=change != _SAME)
