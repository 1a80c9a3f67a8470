"""What a person chooses for one export: the state, what is carried, the format's own options, and where it goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QWidget,
)

from metl_gui.core.project.named_states import NamedState
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.plain_text import plain_label, plain_tip
from metl_gui.workbench.exports.format_spec import YES, Choices, Export, Option

Field: TypeAlias = QLineEdit | ThemedComboBox | QCheckBox

_LIVE = "live"
_ROWS = 3
"""Each choice has three rows of the grid: itself, what it is, and some room."""


class ExportForm(QWidget):
    """The choices of one format; those that all formats have stay when another is chosen.

    Signals:
        changed: something was chosen or written.

    Args:
        states: the published states, the live one first.
        folder: where files go unless somebody says otherwise.
        stem: what files are called, without suffix.
    """

    changed = Signal()

    def __init__(self, states: Sequence[NamedState], folder: Path, stem: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stem, self._proposed = stem, ""
        self._export: Export | None = None
        self._fields: dict[str, Field] = {}
        self.state = ThemedComboBox()
        self.state.setAccessibleName("State")
        for at, named in enumerate(states):
            self.state.addItem(_state_words(named, is_live=at == 0), named.state)
        self.unconfirmed = QCheckBox("Carry blocks that nobody has confirmed too")
        self.place = QLineEdit()
        self.place.setAccessibleName("File or folder to write")
        self.browse = QPushButton("Choose…")
        self.browse.setAutoDefault(False)
        self._folder = folder
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(themes.px(2))
        self._grid.setHorizontalSpacing(themes.px(10))
        self._grid.setColumnStretch(1, 1)
        self._of_format: list[QWidget] = []
        line = QHBoxLayout()
        line.setSpacing(themes.px(8))
        line.addWidget(self.place, 1)
        line.addWidget(self.browse)
        self.place_label = plain_label("File")
        self._grid.addWidget(self.place_label, 0, 0)
        self._grid.addLayout(line, 0, 1)
        self._grid.addWidget(plain_label("State"), _ROWS, 0)
        self._grid.addWidget(self.state, _ROWS, 1)
        self._grid.addWidget(self.unconfirmed, 2 * _ROWS, 1)
        for at in range(2):
            self._part(at)
        self.place.textChanged.connect(self._change)
        self.browse.clicked.connect(self._browse)

    @property
    def path(self) -> Path | None:
        """Where it goes; ``None`` while nothing is named. What is no whole path lies in the project's folder."""
        text = self.place.text().strip()
        return self._folder / Path(text).expanduser() if text else None

    @property
    def wanted_state(self) -> int:
        """The state that is exported."""
        return int(self.state.currentData())

    @property
    def choices(self) -> Choices:
        """What was chosen; options that are left empty hold their defaults."""
        told = {name: _value(field) for name, field in self._fields.items()}
        return Choices(self.unconfirmed.isChecked(), {name: value for name, value in told.items() if value})

    def show_format(self, export: Export) -> None:
        """Ask what a format can be asked for; a name that nobody has changed follows the format."""
        self._export = export
        for widget in self._of_format:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._of_format = []
        self._fields = {option.name: _field(option) for option in export.options}
        for at, option in enumerate(export.options, 3):
            self._add(option, at)
        self.place_label.setText("Folder" if export.is_folder else "File")
        if self.place.text() in ("", self._proposed):
            name = f"{self._stem}-{export.name}" if export.is_folder else f"{self._stem}{export.suffix}"
            self._proposed = str(self._folder / name)
            self.place.setText(self._proposed)
            self.place.setCursorPosition(len(self._proposed))

    def _add(self, option: Option, at: int) -> None:
        """Add an option below what there is: its name, its field, and under it what it is."""
        field = self._fields[option.name]
        self._part(at - 1)
        self._grid.addWidget(field, at * _ROWS, 1)
        self._of_format.append(field)
        if isinstance(field, QCheckBox):
            return  # it says itself what it is
        label, about = plain_label(_label(option)), plain_label(_sentence(option))
        label.setBuddy(field)
        about.setProperty("kind", "small")
        about.setWordWrap(True)
        self._grid.addWidget(label, at * _ROWS, 0)
        self._grid.addWidget(about, at * _ROWS + 1, 1)
        self._of_format += [label, about]

    def _part(self, at: int) -> None:
        """Leave some room below a choice."""
        self._grid.setRowMinimumHeight(at * _ROWS + 2, themes.px(4))

    def _change(self) -> None:
        self.changed.emit()

    def _browse(self) -> None:
        export, start = self._export, str(self.path or self._folder)
        if export is None:
            return
        if export.is_folder:
            name = QFileDialog.getExistingDirectory(self, "A new or empty folder, or an earlier export", start)
        else:
            kinds = f"{export.name} (*{export.suffix});;All files (*)"
            option = QFileDialog.Option.DontConfirmOverwrite  # the dialog asks when it writes
            name, _ = QFileDialog.getSaveFileName(self, "Export to", start, kinds, options=option)
        if name:
            self.place.setText(name)


def _state_words(named: NamedState, is_live: bool) -> str:
    name = f" · {named.name}" if named.name else ""
    return f"State {named.state:,}{name}{f' ({_LIVE})' if is_live else ''}"


def _field(option: Option) -> Field:
    field: Field
    if option.is_switch:
        field = QCheckBox(_sentence(option).rstrip("."))
    elif option.values:
        field = ThemedComboBox()
        field.addItems(list(option.values))
        field.setCurrentText(option.default)
    else:
        field = QLineEdit()
        field.setPlaceholderText(option.default)
    field.setAccessibleName(_sentence(option))
    field.setToolTip(plain_tip(f"On the command line: {option.flag}"))
    field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return field


def _label(option: Option) -> str:
    return option.name.replace("_", " ").capitalize()


def _sentence(option: Option) -> str:
    return f"{option.title[:1].upper()}{option.title[1:]}".rstrip(".") + "."


def _value(field: Field) -> str:
    if isinstance(field, QCheckBox):
        return YES if field.isChecked() else ""
    return field.currentText() if isinstance(field, ThemedComboBox) else field.text().strip()
