"""What a registry or a database has: searched, chosen from, and imported with all versions."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from metl_gui.core.counted import number_of
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import UserError
from metl_gui.ui.jobs.jobs import JobOutcome, Jobs, NewestJob
from metl_gui.ui.theming import theme as themes
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.fitted_dialog import FittedDialog
from metl_gui.ui.widgets.labels import Elided
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.ui.widgets.table import CheckRow, CheckTable, TableCell, TableModel, make_table
from metl_gui.values import Value
from metl_gui.workbench.importing.remote_sources import ImportFilter as Wanted
from metl_gui.workbench.importing.remote_sources import Offer, OfferedVersion, offers, versions_of
from metl_gui.workbench.profiles.kinds import ProfileKind, kind_of
from metl_gui.workbench.profiles.saved_profiles import SIGN, profiles

_SIZE = (940, 620)
_EXAMPLE = "@ and the name of a connection, https://registry.example.com, or postgresql://user@host/database"
_SIDES = {Side.EXTRACTION: "Extraction schemas", Side.CDM: "Canonical model"}
_UNREAD = "Of this kind nothing is imported"
_NOTHING = "Stand on a subject to see its versions."
_ONE_VERSION = "A table comes as it is now. What it was before is not in the catalogue."
_PREFIX_WORDS = "Topics begin with"


class RemoteImport(Value):
    """What is to be imported.

    Args:
        source: an address, or ``@`` and the name of a profile.
        side: the tree it belongs to.
        wanted: what of it; everything when nothing is named.
        is_watched: look for new versions from now on.
    """

    source: str
    side: Side
    wanted: Wanted
    is_watched: bool


class RegistryBrowser(FittedDialog):
    """Lists what there is and asks what is wanted.

    Signals:
        chosen: a ``RemoteImport``.
        profiles_wanted: the connections are to be shown.

    Args:
        jobs: where registries are asked.
        source: what is listed first; empty for the first connection there is.
        used: addresses that were used before.
    """

    chosen = Signal(object)
    profiles_wanted = Signal()

    def __init__(self, jobs: Jobs, source: str = "", used: tuple[str, ...] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Import from a registry")
        self._listing, self._looking = NewestJob(jobs, self), NewestJob(jobs, self)
        self._used = used
        self._known: dict[str, Offer] = {}
        self._listed = ""
        self.box, self.source_line = ThemedComboBox(), QLineEdit()
        self.ask, self.profiles = KeyButton("List"), KeyButton("Connections…", kind="link")
        self.sides = {side: KeyButton(words, kind="segment") for side, words in _SIDES.items()}
        self._group = QButtonGroup(self)
        self.search, self.count = QLineEdit(), Elided("", "small")
        self.table = CheckTable("What there is", ("subject or table", "kind", "changed"))
        self.versions = TableModel([TableCell("version"), TableCell("created"), TableCell("")])
        self.version_table = make_table("Versions", self.versions)
        columns = self.version_table.horizontalHeader()
        columns.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        columns.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self.version_title, self.version_facts = Elided("", "heading"), Elided(_NOTHING, "small")
        self.prefix, self.watches = QLineEdit(), QCheckBox("Watch it for new versions from now on")
        self.prefix_label = plain_label(_PREFIX_WORDS)
        self.all, self.none = KeyButton("Choose what is shown", kind="link"), KeyButton("Choose nothing", kind="link")
        self.take, self.close_button = KeyButton("Import", kind="primary"), KeyButton("Cancel", "Esc")
        self._build()
        self.offer_sources(source)
        self._connect()
        self._filter()
        if self.source:
            self._ask()

    @property
    def source(self) -> str:
        """What is browsed, as it is written."""
        return self.box.currentText().strip()

    @property
    def side(self) -> Side:
        """The tree that it goes to."""
        return Side.CDM if self.sides[Side.CDM].isChecked() else Side.EXTRACTION

    @property
    def wanted(self) -> RemoteImport | None:
        """What is chosen; ``None`` while nothing was listed."""
        if not self._listed or not self._known:
            return None
        chosen = tuple(self.table.rows.chosen)
        prefix = self.prefix.text().strip() if self._is_database else ""
        # A name is taken as a pattern, so what is special in one is put into brackets.
        only = tuple(_as_pattern(name) for name in chosen)
        return RemoteImport(self._listed, self.side, Wanted(only, prefix), self.watches.isChecked())

    def offer_sources(self, first: str = "") -> None:
        """Offer the connections there are, and addresses that were used."""
        text = first or self.source
        try:
            known = [*profiles(ProfileKind.REGISTRY), *profiles(ProfileKind.POSTGRESQL)]
        except UserError:
            known = []  # their dialog says why they cannot be read
        names = [f"{SIGN}{profile.name}" for profile in known]
        self._databases = {f"{SIGN}{profile.name}" for profile in known if profile.kind is ProfileKind.POSTGRESQL}
        self.box.clear()
        self.box.addItems(list(dict.fromkeys([*names, *self._used])))
        self.box.setEditText(text or self.box.itemText(0))

    @property
    def _is_database(self) -> bool:
        return self.source in self._databases or kind_of(self.source) is ProfileKind.POSTGRESQL

    # asking

    def _ask(self, _at: int = 0) -> None:
        source = self.source
        if not source:
            return
        if source != self._listed:
            self.table.rows.choose(())
        self._known, self._listed = {}, ""
        self._filter()
        self.count.setText(f"Asking {source} …")
        self._listing.start("Listing what there is", lambda watch: (source, tuple(offers(source, watch))), self._list)

    def _list(self, outcome: JobOutcome[tuple[str, tuple[Offer, ...]]]) -> None:
        if outcome.value is not None:
            self._listed, found = outcome.value
            self._known = {offer.name: offer for offer in found}
            self._filter()
            if self.isVisible() and self.source_line.hasFocus():
                self.search.setFocus()
        elif outcome.error is not None:
            title, text = dialogs.words_of(outcome.error)
            self.count.setText("")
            self._say_versions(f"✗ {title}", text.replace("\n", " "))

    def _look(self, name: str) -> None:
        source, offer = self._listed, self._known[name]
        if self._is_database:
            self._say_versions(name, offer.comment or _ONE_VERSION)
            return
        self._say_versions(name, "Looking …")
        self._looking.start(
            f"Listing versions of {name}", lambda watch: versions_of(source, offer, watch), self._looked
        )

    def _looked(self, outcome: JobOutcome[list[OfferedVersion]]) -> None:
        name = self.version_title.text()
        if outcome.error is not None:
            title, text = dialogs.words_of(outcome.error)
            self._say_versions(name, f"✗ {title} {text}".replace("\n", " "))
        elif outcome.value is not None:
            self.version_facts.setText(f"{number_of(len(outcome.value), 'version')}, the oldest first")
            self.versions.show_rows([_version_cells(each) for each in outcome.value])

    def _say_versions(self, title: str, facts: str) -> None:
        self.version_title.setText(title)
        self.version_facts.setText(facts)
        self.versions.show_rows([])

    # showing

    def _filter(self, _text: str = "") -> None:
        words = self.search.text().lower().split()
        shown = [offer for offer in self._known.values() if _fits(offer, words)]
        self.table.rows.show_rows([_row(offer) for offer in shown])
        self.count.setText(f"{len(shown):,} of {len(self._known):,} shown" if self._listed else "")
        self._say()

    def _say(self) -> None:
        chosen = len(self.table.rows.chosen)
        readable = sum(offer.is_readable for offer in self._known.values())
        self.take.setEnabled(self.wanted is not None and readable > 0)
        self.take.setText(f"Import {chosen:,}" if chosen else f"Import all {readable:,}" if readable else "Import")
        self.take.updateGeometry()
        for part in (self.prefix, self.prefix_label):
            part.setVisible(self._is_database)
        for button in (self.all, self.none):
            button.setEnabled(bool(self._known))

    def _choose_shown(self) -> None:
        names = (row.name for row in self.table.rows.rows if not row.why_not)
        self.table.rows.choose([*self.table.rows.chosen, *names])

    def _choose_nothing(self) -> None:
        self.table.rows.choose(())

    def _take(self) -> None:
        wanted = self.wanted
        if wanted is not None:
            self.accept()
            self.chosen.emit(wanted)

    # building

    def _connect(self) -> None:
        self.ask.clicked.connect(self._ask)
        self.source_line.returnPressed.connect(self._ask)
        self.box.activated.connect(self._ask)
        self.profiles.clicked.connect(self.profiles_wanted)
        self.search.textChanged.connect(self._filter)
        self.table.looked.connect(self._look)
        self.table.rows.chosen_changed.connect(self._say)
        self.all.clicked.connect(self._choose_shown)
        self.none.clicked.connect(self._choose_nothing)
        self.take.clicked.connect(self._take)
        self.close_button.clicked.connect(self.reject)

    def _build(self) -> None:
        self.box.setLineEdit(self.source_line)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName("Registry or database")
        self.box.setAccessibleDescription(_EXAMPLE)
        self.source_line.setPlaceholderText(_EXAMPLE)
        self.search.setPlaceholderText("Search names, kinds and comments")
        self.search.setAccessibleName("Search")
        self.prefix.setPlaceholderText("Debezium's topic.prefix, like fx")
        self.prefix.setAccessibleName(_PREFIX_WORDS)
        self.prefix_label.setBuddy(self.prefix)
        self.watches.setToolTip("Each new version runs the automated update at once; what it asks stands on Review")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(10)
        layout.addWidget(plain_label("Import from a registry or a database", "title"))
        layout.addLayout(_row_of((self.box, 1), (self.ask, 0), (self.profiles, 0)))
        layout.addLayout(self._sides_row())
        layout.addLayout(_row_of((self.search, 1), (self.all, 0), (self.none, 0)))
        layout.addWidget(self.count)
        layout.addWidget(self._parts(), 1)
        layout.addLayout(_row_of((self.watches, 1)))
        layout.addLayout(_row_of((QWidget(), 1), (self.take, 0), (self.close_button, 0)))
        for button in (
            self.ask,
            self.profiles,
            *self.sides.values(),
            self.all,
            self.none,
            self.take,
            self.close_button,
        ):
            button.setAutoDefault(False)
        self.resize(themes.px(_SIZE[0]), themes.px(_SIZE[1]))

    def _sides_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(0)
        for at, button in enumerate(self.sides.values()):
            button.setCheckable(True)
            button.setProperty("edge", "first" if at == 0 else "last")
            self._group.addButton(button, at)
            row.addWidget(button)
        self.sides[Side.EXTRACTION].setChecked(True)
        row.addSpacing(16)
        row.addWidget(self.prefix_label)
        row.addSpacing(8)
        row.addWidget(self.prefix, 1)
        row.addStretch(1)
        return row

    def _parts(self) -> QSplitter:
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.version_title, self.version_facts):
            column.addWidget(part)
        column.addWidget(self.version_table, 1)
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.setProperty("surface", "clear")
        parts.setChildrenCollapsible(False)
        parts.setHandleWidth(16)
        parts.addWidget(self.table)
        parts.addWidget(right)
        parts.setSizes([6_500, 3_500])
        return parts


def _row_of(*parts: tuple[QWidget, int]) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    for part, share in parts:
        row.addWidget(part, share)
    return row


def _row(offer: Offer) -> CheckRow:
    kind = offer.kind.capitalize() if offer.kind.isupper() else offer.kind
    return CheckRow(offer.name, (kind, offer.changed[:10]), "" if offer.is_readable else _UNREAD)


def _fits(offer: Offer, words: list[str]) -> bool:
    text = f"{offer.name} {offer.kind} {offer.comment}".lower()
    return all(word in text for word in words)


def _version_cells(each: OfferedVersion) -> tuple[TableCell, ...]:
    why = TableCell(each.why_not, pill="plain", tip="Is not imported") if each.why_not else TableCell("")
    return TableCell(each.label, tip=each.label), TableCell(each.created[:19].replace("T", " ")), why


def _as_pattern(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
