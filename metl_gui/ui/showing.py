"""Shows dialogs over their window; nobody waits for them to be closed, and they are deleted when they are."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog

from metl_gui.ui.document import OpenProject


def show(dialog: QDialog) -> None:
    """Show a dialog."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def show_about(project: OpenProject, dialog: QDialog) -> None:
    """Show a dialog about the open project; when that is closed, or another one comes, it goes unanswered."""
    project.opened.connect(dialog.reject)
    show(dialog)
