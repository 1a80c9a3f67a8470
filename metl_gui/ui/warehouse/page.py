"""The Warehouse page: the star of a model in the middle, the columns of one table below, loads at the right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from metl_gui.core.dimensional.models.proposed_tables import accepted_with
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.problems import Problem
from metl_gui.core.warehouse_model import Dimension, Fact, Model, Table
from metl_gui.ui.warehouse.load_panel import LoadPanel
from metl_gui.ui.warehouse.model_panel import ModelPanel
from metl_gui.ui.warehouse.table_panel import TablePanel
from metl_gui.ui.warehouse.timeline_panel import TimelinePanel
from metl_gui.ui.widgets.dock import Dock, Scrolled
from metl_gui.ui.widgets.panel_page import PanelPage
from metl_gui.workbench.warehouse.star import Places, facts_of, star_of, table_key
from metl_gui.workbench.warehouse.table_rows import free_attributes, table_problems, table_rows

_LEAST_PX = (870, 400)
"""Width and height at scale 1 that all panels need beside each other."""


class WarehousePage(PanelPage):
    """One of the four pages; what is done on it is its controller's."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("warehousePage", "Model", _LEAST_PX, parent)
        self.panel, self.table, self.load = ModelPanel(), TablePanel(), LoadPanel()
        self.timeline = TimelinePanel()
        self.star = self.panel.star
        self.document, self.model, self.shown = Document(), Model(name=""), ""
        self.problems: Sequence[Problem] = ()
        self.proposed: tuple[Table, ...] = ()
        self.can_edit = False
        self.table_dock = Dock("warehouseTableDock", "Table", self.table)
        self.load_dock = Dock("warehouseLoadDock", "Load", self.load)
        self.timeline_dock = Dock("warehouseTimelineDock", "Timeline", self.timeline)
        self.setCentralWidget(Scrolled(self.panel, gives_way=True))
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.table_dock)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.timeline_dock)
        self.tabifyDockWidget(self.table_dock, self.timeline_dock)
        self.table_dock.raise_()
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.load_dock)

    @property
    def at_hand(self) -> QWidget:
        """What gets the keyboard when the page comes to the front."""
        return self.panel.at_hand

    @property
    def shown_table(self) -> Table | None:
        """The table that is shown, of the model or proposed."""
        return self.model.table(self.shown) or next((one for one in self.proposed if one.name == self.shown), None)

    @property
    def is_proposed(self) -> bool:
        """Whether the table that is shown is not in the model yet."""
        return self.shown_table is not None and self.model.table(self.shown) is None

    def show_models(self, document: Document, name: str, moved: Places, *, can_edit: bool) -> None:
        """Show a model of a document, or that there is none.

        Args:
            document: the state.
            name: of the model; another one is taken where there is none of it.
            moved: where boxes were put.
            can_edit: whether anything can be changed.
        """
        models = document.models
        known = document.model(name) or next(iter(models), None)
        if known is None or known.name != self.model.name:
            self.problems, self.proposed, self.shown = (), (), ""
        self.document, self.can_edit = document, can_edit
        self.model = known or Model(name="")
        self.panel.show_model(known is not None)
        self.panel.empty.show_can_edit(can_edit)
        self.panel.line.show_models([one.name for one in models], self.model.name, can_edit)
        self.load.show_model(has_model=known is not None)
        self._show_star(moved)

    def show_found(self, problems: Sequence[Problem], proposed: tuple[Table, ...]) -> None:
        """Show what checks say of the model and what is proposed for it."""
        self.problems, self.proposed = problems, proposed
        self._show_star(self.star.moved)

    def show_table(self, name: str) -> None:
        """Show the columns of a table."""
        self.shown = name
        self.star.choose(table_key(name))
        self.show_columns()

    def _show_star(self, moved: Places) -> None:
        names = {one.name for one in self.model.tables}
        self.proposed = tuple(one for one in self.proposed if one.name not in names)
        self.panel.line.show_problems(self.problems)
        self.star.show_star(star_of(self.model, self.proposed, self.problems), moved)
        if self.shown_table is None:
            self.shown = next((one.name for one in self.model.tables), "")
        if not self.star.current:
            self.star.choose(table_key(self.shown))
        self.show_columns()

    def show_columns(self) -> None:
        """Show the rows of the table that is chosen."""
        table = self.shown_table
        tables = [(one.name, one.name) for one in self.model.tables]
        tables += [(one.name, f"{one.name} (proposed)") for one in self.proposed]
        self.table.show_tables(tables, self.shown)
        is_there = not self.is_proposed
        self.timeline.show_table(
            is_dimension=is_there and isinstance(table, Dimension), is_fact=is_there and isinstance(table, Fact)
        )
        self.table_dock.say("Table", facts_of(table) if table is not None else "")
        if table is None:
            self.table.show_table((), (), can_edit=False, can_add=False, accepts="")
            return
        rows = table_rows(self.document, self.model, table, () if self.is_proposed else self.problems)
        in_rows = {problem for row in rows for problem in row.problems}
        own = [one for one in table_problems(self.model, table.name, self.problems) if one not in in_rows]
        free = free_attributes(self.document, self.model, table)
        self.table.show_table(
            rows,
            () if self.is_proposed else own,
            can_edit=self.can_edit,
            can_add=bool(free),
            new=sum(one.is_new for one in free),
            accepts=self._accepts(table) if self.is_proposed else "",
        )

    def _accepts(self, table: Table) -> str:
        others = len(accepted_with(self.proposed, table.name)) - 1
        more = f" and {others} that it refers to" if others else ""
        return f"Accept {table.name}{more}"
