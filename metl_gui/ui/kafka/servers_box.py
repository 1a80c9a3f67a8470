"""Which Kafka servers: a profile or host and port, with the way to the connections."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from metl_gui.core.runs.kafka import SCHEME, is_kafka, parse_address
from metl_gui.errors import UserError
from metl_gui.ui.widgets.choice import ThemedComboBox
from metl_gui.ui.widgets.pill import KeyButton
from metl_gui.ui.widgets.plain_text import plain_label
from metl_gui.workbench.profiles.kinds import ProfileKind
from metl_gui.workbench.profiles.saved_profiles import SIGN, profiles

_EXAMPLE = "host:port, or @ and the name of a connection"


class ServersBox(QWidget):
    """A box to type or choose servers in.

    Signals:
        asked: the servers that are chosen are to be asked.
        profiles_wanted: the connections are to be shown.
    """

    asked = Signal()
    profiles_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box, self.line = ThemedComboBox(), QLineEdit()
        self.box.setLineEdit(self.line)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName("Servers")
        self.box.setAccessibleDescription(_EXAMPLE)
        self.line.setPlaceholderText(_EXAMPLE)
        self.ask = KeyButton("List topics")
        self.profiles = KeyButton("Connections…", kind="link")
        for button in (self.ask, self.profiles):
            button.setAutoDefault(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        label = plain_label("Servers")
        label.setBuddy(self.box)
        for part, share in ((label, 0), (self.box, 1), (self.ask, 0), (self.profiles, 0)):
            row.addWidget(part, share)
        self.ask.clicked.connect(self.asked)
        self.line.returnPressed.connect(self.asked)
        self.box.activated.connect(self._activated)
        self.profiles.clicked.connect(self.profiles_wanted)

    @property
    def address(self) -> str:
        """The servers as an address without topics; empty where nothing is chosen."""
        text = self.box.currentText().strip().removeprefix(SCHEME).rstrip("/")
        return f"{SCHEME}{text}" if text else ""

    def offer(self, *known: str) -> None:
        """Offer the connections of Kafka there are, and the servers of addresses that were used; choose the first.

        Args:
            known: addresses, the likeliest first; those that are not in Kafka are left out.
        """
        text = self.box.currentText()
        try:
            names = [f"{SIGN}{profile.name}" for profile in profiles(ProfileKind.KAFKA)]
        except UserError:
            names = []  # their dialog says why they cannot be read
        used = [servers_of(address) for address in known]
        self.box.clear()
        self.box.addItems(list(dict.fromkeys([*filter(None, used), *names])))
        self.box.setEditText(text or self.box.itemText(0))

    def _activated(self, _at: int) -> None:
        self.asked.emit()


def servers_of(address: str) -> str:
    """Return the part of an address that names the servers, as people write it; empty where it is none of Kafka."""
    if not is_kafka(address):
        return ""
    try:
        known = parse_address(address)
    except UserError:
        return ""
    return f"{SIGN}{known.profile}" if known.profile else known.bootstrap
