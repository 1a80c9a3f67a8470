"""Who maps with the same matrix and what they wait for; below it what went wrong lately."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QHeaderView, QVBoxLayout, QWidget

from metl_gui.engine.lanes.members import MemberFigures
from metl_gui.ui.elided import Elided
from metl_gui.ui.lanes.now import LaneNow, Trouble, members_words, newest_of
from metl_gui.ui.plain import plain_label
from metl_gui.ui.run.amounts import duration
from metl_gui.ui.run.tables import HEADING_PX, TableCell, TableModel, make_table

_NO_TROUBLE = "Nothing went wrong."


class MembersPanel(QFrame):
    """A card: a sentence, one row for each member, and the troubles."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "card")
        self.sentence, self.quiet = Elided("", "small"), Elided(_NO_TROUBLE, "small")
        self.model = TableModel([TableCell("member"), TableCell("maps with"), TableCell("")])
        self.table = make_table("Members on this matrix", self.model)
        self.troubles = TableModel([TableCell("at"), TableCell("what went wrong")])
        self.trouble_table = make_table("Troubles of the lane", self.troubles)
        self.trouble_table.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.table.setTextElideMode(Qt.TextElideMode.ElideLeft)
        for table, stretched in ((self.table, 0), (self.trouble_table, 1)):
            table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            table.horizontalHeader().setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
        self._build()
        self.show_lane(LaneNow())

    def show_lane(self, lane: LaneNow) -> None:
        """Show who takes part in a lane's state, and its troubles."""
        self.sentence.setText(members_words(lane.members) if lane.members else "Who maps with the same matrix.")
        newest = newest_of([each for each in lane.members if each.is_alive])
        members = sorted(lane.members, key=lambda each: each.instance)
        self.model.show_rows([_member_cells(each, newest) for each in members])
        self.troubles.show_rows([_trouble_cells(each) for each in reversed(lane.troubles)])
        self.trouble_table.setVisible(bool(lane.troubles))
        self.quiet.setText(_trouble_words(lane) if lane.troubles else _NO_TROUBLE)

    def _build(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 8, 14, 8)
        layout.setSpacing(4)
        for words, beside, table in (
            ("Members", self.sentence, self.table),
            ("Troubles", self.quiet, self.trouble_table),
        ):
            row = QHBoxLayout()
            title = plain_label(words, "heading")
            title.setMinimumHeight(HEADING_PX)
            row.addWidget(title)
            row.addSpacing(8)
            row.addWidget(beside, 1)
            layout.addLayout(row)
            layout.addWidget(table, 1)


def _member_cells(each: MemberFigures, newest: int) -> tuple[TableCell, ...]:
    state = "none yet" if each.state is None else f"state {each.state:,}"
    return TableCell(each.instance, tip=each.instance), TableCell(state), _standing(each, newest)


def _standing(each: MemberFigures, newest: int) -> TableCell:
    """Say in a pill what a member does about the newest state."""
    if not each.is_alive:
        return TableCell(f"silent for {duration(each.seconds_silent)}", pill="bad", tip="The others do not wait for it")
    if each.trouble:
        return TableCell("cannot", pill="bad", tip=each.trouble)
    if each.state == newest:
        return TableCell("")
    if (each.ready_for or 0) >= newest:
        return TableCell(f"ready for {newest:,}", pill="good")
    return TableCell(f"prepares {newest:,}", pill="review")


def _trouble_words(lane: LaneNow) -> str:
    times = sum(each.times for each in lane.troubles)
    return "It cannot go on now, and tries again." if lane.is_troubled else f"{times:,} so far; it went on."


def _trouble_cells(each: Trouble) -> tuple[TableCell, ...]:
    times = f" ({each.times:,} times)" if each.times > 1 else ""
    return TableCell(duration(each.second)), TableCell(f"{each.text}{times}", tip=each.text)
