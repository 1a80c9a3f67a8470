"""One profile as a form, with the fields of its kind."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QPlainTextEdit, QWidget

from metl_gui.errors import RunError
from metl_gui.ui.settings_dialogs.connection_fields import KINDS, TARGET
from metl_gui.ui.settings_dialogs.connection_rows import ConnectionRow, FormRow, SecretRows, values_of
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.workbench.profiles.kinds import ProfileKind, kind_of
from metl_gui.workbench.profiles.saved_profiles import Profile

_SETTINGS_PX = 84
_SPARK = ("sc://", "spark://", "local[", "yarn", "k8s://")
_NAME_WORDS = "Runs, imports and addresses name it with an @ before it."
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
        self.kind_choice = ThemedComboBox()
        for kind, words in KINDS.items():
            self.kind_choice.addItem(words.title, kind)
        self.settings, self.secrets = QPlainTextEdit(), SecretRows()
        self.choose = KeyButton("Folder…")
        self.is_edited = False
        self._forced: frozenset[str] = frozenset()
        self.rows: dict[ProfileKind, dict[str, ConnectionRow]] = {}
        self.name.setPlaceholderText("a short name, like lab")
        self.settings.setFixedHeight(themes.px(_SETTINGS_PX))
        self.settings.setTabChangesFocus(True)
        self.settings.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.folder.setPlaceholderText("a path that is the same on all workers")
        self.choose.setAccessibleName("Choose the shared folder")
        self._build()
        for line in (self.name, self.folder):
            line.textEdited.connect(self._tell)
        self.target.textEdited.connect(self._retarget)
        self.settings.textChanged.connect(self._tell)
        self.secrets.edited.connect(self._tell)
        self.kind_choice.activated.connect(self._choose_kind)
        self.choose.clicked.connect(self._choose)
        self._is_showing = False

    @property
    def kind(self) -> ProfileKind:
        """What the profile leads to."""
        return ProfileKind(self.kind_choice.currentData())

    @property
    def fields(self) -> dict[str, ConnectionRow]:
        """The rows of settings and secrets of the kind that is shown, by name."""
        return self.rows[self.kind]

    def show_profile(self, profile: Profile | None, kind: ProfileKind = ProfileKind.SPARK) -> None:
        """Show a profile, or an empty form for a new one of a kind. Name and kind of one that is there stay."""
        self._is_showing = True
        shown = profile or Profile(name="", target="")
        self.name.setText(shown.name)
        self.name.setReadOnly(profile is not None)
        self.kind_choice.setCurrentIndex(self.kind_choice.findData(profile.kind if profile is not None else kind))
        self.kind_choice.setEnabled(profile is None)
        self.target.setText(shown.target)
        self.folder.setText(shown.folder)
        self._fill(dict(shown.settings), dict(shown.secrets))
        self._is_showing = self.is_edited = False

    @property
    def profile(self) -> Profile:
        """What the form says.

        Raises:
            RunError: a line of the settings is none.
        """
        rows = {name: row for name, row in self.fields.items() if row.isVisibleTo(self)}
        more = map(_setting, filter(None, map(str.strip, self.settings.toPlainText().splitlines())))
        own = ((name, row.secret.where) for name, row in rows.items() if row.secret is not None and row.secret.is_given)
        return Profile(
            name=self.name.text().strip().removeprefix("@"),
            target=self._target(),
            settings=(*values_of(rows).items(), *more),
            secrets=(*own, *self.secrets.places),
            folder=self.folder.text().strip() if self.kind is ProfileKind.SPARK else "",
        )

    @property
    def values(self) -> dict[str, str]:
        """The values that were given for the keyring."""
        rows = (row.secret for row in self.fields.values() if row.secret is not None and row.isVisibleTo(self))
        own = {row.name.text(): row.value.text() for row in rows if row.is_in_keyring and row.value.text()}
        return own | self.secrets.values

    def _target(self) -> str:
        """Return where it leads; of servers that somebody wrote without it, with the beginning that tells the kind."""
        text = self.target.text().strip()
        begins = {ProfileKind.KAFKA: "kafka://", ProfileKind.POSTGRESQL: "postgresql://"}.get(self.kind, "")
        return begins + text if begins and text and "://" not in text else text

    def _fill(self, settings: dict[str, str], secrets: dict[str, str]) -> None:
        known = {**settings, TARGET: self.target.text().strip()}
        there = (settings.keys() | secrets.keys()) & self.fields.keys()
        self._forced = frozenset(name for name in there if not self.fields[name].field.when(known))
        for name, row in self.fields.items():
            row.show_value(settings.pop(name, ""))
            row.show_secret(secrets.pop(name, ""))
        self.settings.setPlainText("\n".join(f"{name}={value}" for name, value in settings.items()))
        self.secrets.show_secrets(secrets)
        self._show_kind()

    def _show_kind(self) -> None:
        """Speak of the kind that is chosen, and show its rows."""
        words = KINDS[self.kind]
        self.target.setPlaceholderText(words.example)
        self._target_row.say(words.target, words.words)
        self.settings.setPlaceholderText(words.settings_example)
        self._settings_row.say("Settings" if not words.fields else "More settings", words.settings)
        self._settings_row.show_row(bool(words.settings) or bool(self.settings.toPlainText()))
        self._secrets_row.say("Secrets" if not words.fields else "More secrets", words.secrets)
        self._secrets_row.show_row(bool(words.secrets) or bool(self.secrets.rows))
        self._folder_row.show_row(self.kind is ProfileKind.SPARK)
        self._show_rows()

    def _show_rows(self) -> None:
        settings = {**values_of(self.fields), TARGET: self.target.text().strip()}
        for kind, rows in self.rows.items():
            for name, row in rows.items():
                row.show_row(kind is self.kind and (name in self._forced or row.field.when(settings)))

    def _tell(self, _text: str = "") -> None:
        if not self._is_showing:
            self.is_edited = True
            self._show_rows()
            self.edited.emit()

    def _retarget(self, text: str) -> None:
        """Show the kind that a target tells by how it begins."""
        told = kind_of(text)
        if told is not self.kind and (told is not ProfileKind.SPARK or text.startswith(_SPARK)):
            self.kind_choice.setCurrentIndex(self.kind_choice.findData(told))
            self._show_kind()
        self._tell()

    def _choose_kind(self, _at: int) -> None:
        self._is_showing = True
        self._fill({}, {})
        self._is_showing = False
        self._tell()

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
        form.setColumnMinimumWidth(0, themes.px(126))
        folder = QWidget()
        row = QHBoxLayout(folder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(self.folder, 1)
        row.addWidget(self.choose)
        FormRow(form, "Name", self.name, self.name, _NAME_WORDS)
        FormRow(form, "Leads to", self.kind_choice, self.kind_choice)
        self._target_row = FormRow(form, "Target", self.target, self.target)
        for kind, words in KINDS.items():
            self.rows[kind] = {field.name: ConnectionRow(form, field) for field in words.fields}
            for each in self.rows[kind].values():
                each.edited.connect(self._tell)
        self._settings_row = FormRow(form, "Settings", self.settings, self.settings)
        self._secrets_row = FormRow(form, "Secrets", self.secrets, self.secrets)
        self._folder_row = FormRow(form, "Shared folder", folder, self.folder, _FOLDER_WORDS)


def _setting(line: str) -> tuple[str, str]:
    name, sign, value = line.partition("=")
    if not sign:
        raise RunError(f"{line!r} is no setting.", hint="Write each as NAME=VALUE, like spark.executor.memory=4g.")
    return name.strip(), value.strip()
