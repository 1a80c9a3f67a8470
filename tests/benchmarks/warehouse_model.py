"""Edits of a warehouse model of 300 entities and 10,000 columns: from the key to the paint, checks, proposals, YAML.

An edit lasts from the change of a cell to the end of painting everything in the window; writing it to the project file
lies in between. Checks and proposals are made in the background after it, and are measured on their own.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

from PySide6.QtCore import QEvent, QSettings, Qt
from PySide6.QtWidgets import QApplication

from metl_gui.core.dimensional.models.proposals import proposed_model
from metl_gui.core.matrix.document import Document
from metl_gui.core.warehouse_model import Column, Dimension, Model
from metl_gui.formats.model_yaml import read_model, write_model
from metl_gui.ui.jobs.jobs import Jobs
from metl_gui.ui.shell.window import Window
from metl_gui.ui.theming import theme as themes
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.warehouse.models import check_models, set_model
from tests.benchmarks.harness import Case, figure, seconds
from tests.benchmarks.project_files import write_project
from tests.benchmarks.sizes import ATTRIBUTES, Size, build

ENTITIES, COLUMNS = 300, 34
_SIZE = Size("300 entities", ENTITIES, ENTITIES)
_CHECKED_AFTER, _LOOK = 0.4, 0.02
EDIT_TO_PAINT = 0.05
"""Seconds that an edit may take until it is painted."""


def model_of(document: Document) -> Model:
    """Return a model with a dimension of 34 columns for each entity."""
    columns = tuple(Column(name=f"column_{at}", path=f"attribute_{at % ATTRIBUTES}") for at in range(COLUMNS))
    tables = tuple(
        Dimension(name=f"dimension_{at}", entity=entity.name, business_key=("attribute_0",), columns=columns)
        for at, entity in enumerate(document.cdm.schemas())
    )
    return Model(name="wide", tables=tables)


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Yield the cases; there is no smaller size."""
    del quick
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    document = build(_SIZE)
    model = model_of(document)
    note = f"{ENTITIES} entities, {ENTITIES * COLUMNS:,} columns"
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "wide.metl"
        write_project(path, document)
        with Workbench.open(path) as workbench:
            set_model(workbench, model)
            known = workbench.document
        yield figure("edit of a column, to the paint", edited(path, rounds), unit="s", target=EDIT_TO_PAINT, note=note)
    yield figure("checks", _median(rounds, partial(check_models, known)), unit="s", note=note)
    yield figure("proposal of a model", _median(rounds, partial(proposed_model, document, "new")), unit="s", note=note)
    text = write_model(model)
    yield figure("model read from YAML", _median(rounds, partial(read_model, text)), unit="s", note=f"{len(text):,} B")


def _median(rounds: int, task: Callable[[], object]) -> float:
    return median(seconds(task) for _ in range(rounds))


def edited(path: Path, rounds: int) -> float:
    """Return the median seconds from changing the type of a column to the end of the paint."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    themes.apply(app, themes.load("light"))
    jobs = Jobs()
    window = Window(QSettings(f"{path}.ini", QSettings.Format.IniFormat), jobs, warms_up=False)
    window.resize(1600, 1000)
    window.show()
    window.show_project(Workbench.open(path))
    window.actions_table["warehouse_page"].trigger()
    page = window.warehouse.page
    _settle()
    page.show_table("dimension_150")
    times = []
    try:
        for kind in ("text(20)", "text(30)") * rounds:
            _rest(_CHECKED_AFTER)
            while jobs.running:  # what the edit before has them find out
                _rest(_LOOK)
            times.append(seconds(partial(_change_type, window, kind)))
            found = window.project.value.models[0].table("dimension_150")
            assert isinstance(found, Dimension)
            assert next(one.type for one in found.columns if isinstance(one, Column) and one.name == "column_3") == kind
    finally:
        window.close()
        window.deleteLater()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return median(times)


def _change_type(window: Window, kind: str) -> None:
    model = window.warehouse.page.table.model
    row = [one.name for one in model.rows].index("column_3")
    column = [model.headerData(at, Qt.Orientation.Horizontal) for at in range(model.columnCount())].index("Type")
    assert model.setData(model.index(row, column), kind)
    _settle()


def _rest(until: float) -> None:
    """Take events for some seconds; threads go on meanwhile, which Qt's own waiting for tests keeps from that."""
    end = time.monotonic() + until
    while time.monotonic() < end:
        QApplication.processEvents()
        time.sleep(_LOOK / 2)


def _settle() -> None:
    QApplication.sendPostedEvents()
    QApplication.processEvents()
