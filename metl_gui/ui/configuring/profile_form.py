"""One profile as a form."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from metl_gui.errors import RunError
from metl_gui.ui import theme as themes
from metl_gui.ui.configuring.secret_rows import SecretRows
from metl_gui.ui.pill import KeyButton
from metl_gui.ui.plain import plain_label
from metl_gui.workbench.profiles import Profile

_SETTINGS_PX = 84
_TARGET_WORDS = "local[*], sc://host:port, spark://host:port, or whatever else spark-submit knows."
_SETTINGS_WORDS = "One setting of Spark a line. They stay on this computer and never go into a project."
_HIDDEN_WORDS = "A token of a Connect server, or a setting of Spark that nobody may read. No file of ours holds it."
_FOLDER_WORDS = "Runs without a folder of their own write here, and the test does."


class ProfileForm(QWidget):
    """Shows a profile and takes another one.

    Signals:
        edited: somebody changed something.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name, self.target, self.folder = QLineEdit(), QLineEdit(), QLineEdit()
        self.settings, self.secrets = QPlainTextEdit(), SecretRows()
        self.choose = KeyButton("Folder…")
        self.is_edited = False
        self.name.setPlaceholderText("a short name, like lab")
        self.target.setPlaceholderText("sc://spark.example.com:15002/;use_ssl=true")
        self.settings.setPlaceholderText("spark.executor.memory=4g\nspark.pyspark.python=/opt/python3.11/bin/python3")
        self.settings.setFixedHeight(themes.px(_SETTINGS_PX))
        self.settings.setTabChangesFocus(True)
        self.settings.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.folder.setPlaceholderText("a path that is the same on all workers")
        self.choose.setAccessibleName("Choose the shared folder")
        self._build()
        for line in (self.name, self.target, self.folder):
            line.textEdited.connect(self._tell)
        self.settings.textChanged.connect(self._tell)
        self.secrets.edited.connect(self._tell)
        self.choose.clicked.connect(self._choose)
        self._is_showing = False

    def show_profile(self, profile: Profile | None) -> None:
        """Show a profile, or an empty form for a new one. The name of one that is there stays as it is."""
        self._is_showing = True
        shown = profile or Profile(name="", target="")
        self.name.setText(shown.name)
        self.name.setReadOnly(profile is not None)
        self.target.setText(shown.target)
        self.settings.setPlainText("\n".join(f"{name}={value}" for name, value in shown.settings))
        self.secrets.show_secrets(dict(shown.secrets))
        self.folder.setText(shown.folder)
        self._is_showing = self.is_edited = False

    @property
    def profile(self) -> Profile:
        """What the form says.

        Raises:
            RunError: a line of the settings is none.
        """
        return Profile(
            name=self.name.text().strip().removeprefix("@"),
            target=self.target.text().strip(),
            settings=tuple(map(_setting, filter(None, map(str.strip, self.settings.toPlainText().splitlines())))),
            secrets=self.secrets.places,
            folder=self.folder.text().strip(),
        )

    def _tell(self, _text: str = "") -> None:
        if not self._is_showing:
            self.is_edited = True
            self.edited.emit()

    def _choose(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Folder that all workers see", self.folder.text())
        if path:
            self.folder.setText(path)
            self._tell()

    def _build(self) -> None:
        form = QGridLayout(self)  # a form layout gives fields of several lines too little room
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(14)
        form.setVerticalSpacing(12)
        form.setColumnStretch(1, 1)
        folder = QWidget()
        row = QHBoxLayout(folder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.folder, 1)
        row.addWidget(self.choose)
        rows = (
            ("Name", self.name, self.name, "Runs name it with an @ before it."),
            ("Target", self.target, self.target, _TARGET_WORDS),
            ("Settings", self.settings, self.settings, _SETTINGS_WORDS),
            ("Secrets", self.secrets, self.secrets.more, _HIDDEN_WORDS),
            ("Shared folder", folder, self.folder, _FOLDER_WORDS),
        )
        for at, (title, field, said, words) in enumerate(rows):
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(field)
            small = plain_label(words, "small")
            small.setWordWrap(True)
            column.addWidget(small)
            label = plain_label(title)
            label.setBuddy(said)
            label.setContentsMargins(0, themes.px(5), 0, 0)
            if said is not self.secrets.more:
                said.setAccessibleName(title)
            said.setAccessibleDescription(words)
            form.addWidget(label, at, 0, Qt.AlignmentFlag.AlignTop)
            form.addLayout(column, at, 1)


def _setting(line: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    if not sign:
        raise RunError(f"{line!r} is no setting.", hint="Write each as NAME=VALUE, like spark.executor.memory=4g.")
    return name.strip(), value.strip()
