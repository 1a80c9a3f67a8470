"""The question before a state with a warehouse model goes live."""

from __future__ import annotations

from metl_gui.core.edits.warehouse import SetModel
from metl_gui.core.warehouse_model import Dimension, Model
from metl_gui.ui.shell.window import Window
from tests.qt.test_publishing import ask


def test_an_error_in_a_model_is_listed_first_and_keeps_the_state_back(window: Window) -> None:
    broken = Model(name="odd", tables=(Dimension(name="d", entity="gone"),))
    assert window.project.do(SetModel(broken))
    dialog = ask(window)
    assert not dialog.do.isEnabled()
    assert "There is no entity gone." in str(dialog.model.rows[0][0])
    assert "1 error" in dialog.checks.text()
    dialog.reject()
