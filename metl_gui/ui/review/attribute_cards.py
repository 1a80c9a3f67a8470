"""What came and went of the attributes that the warehouse is made of, as cards at the head of the review list."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from metl_gui.core.counted import number_of
from metl_gui.core.dimensional.models.asked_attributes import LostAttribute, NewAttributes
from metl_gui.ui.review.card_strip import CardStrip
from metl_gui.ui.widgets.pill import KeyButton


class NewAttributeStrip(CardStrip[NewAttributes]):
    """One card for each entity with attributes that no table takes.

    Signals:
        add_wanted: the ``NewAttributes`` that are to be columns.
        leave_wanted: the ``NewAttributes`` that no table shall take.
    """

    add_wanted = Signal(object)
    leave_wanted = Signal(object)

    def more_words(self, count: int) -> str:
        """Say how many more entities have some."""
        return f"and {count:,} more {'entity' if count == 1 else 'entities'} with new attributes"

    def card_of(self, one: NewAttributes) -> QFrame:
        """Make the card of an entity."""
        count = number_of(len(one.paths), "new attribute")
        facts = f"{count} in no table of the warehouse {one.model} · {', '.join(one.paths)}"
        add = KeyButton(f"Add to {one.tables[0]}" if len(one.tables) == 1 else "Add to a table…")
        add.setAccessibleDescription(f"{one.entity}: {facts}")
        leave = KeyButton("Not wanted")
        leave.setToolTip("Nobody is asked for them again; Add column… on the Warehouse page still offers them")
        leave.setAccessibleDescription(f"{one.entity}: no table takes {', '.join(one.paths)}")
        add.clicked.connect(partial(self.add_wanted.emit, one))
        leave.clicked.connect(partial(self.leave_wanted.emit, one))
        return self.lay_out(one.entity, facts, list(one.paths), {add: True, leave: True})


class LostAttributeStrip(CardStrip[LostAttribute]):
    """One card for each attribute that tables use and no block maps.

    Signals:
        keep_wanted: the ``LostAttribute`` whose columns stay.
        drop_wanted: the ``LostAttribute`` whose columns are to go.
    """

    keep_wanted = Signal(object)
    drop_wanted = Signal(object)

    def more_words(self, count: int) -> str:
        """Say how many more there are."""
        return f"and {number_of(count, 'more attribute')} that no block maps"

    def card_of(self, one: LostAttribute) -> QFrame:
        """Make the card of an attribute."""
        places = ", ".join(f"{use.table}.{use.name}" for use in one.uses)
        facts = (
            f"no block maps it any more · {places} {'stays' if len(one.uses) == 1 else 'stay'}, null for what follows"
        )
        keep = KeyButton("Keep it so")
        keep.setToolTip("What is there stays, and nobody is asked for it again")
        keep.setAccessibleDescription(f"{one.path} of {one.entity}: {facts}")
        buttons = {keep: True}
        if one.columns:
            columns = ", ".join(f"{use.table}.{use.name}" for use in one.columns)
            drop = KeyButton("Remove the column" if len(one.columns) == 1 else "Remove the columns")
            drop.setToolTip("The next rebuild takes it out of targets; columns of expressions stay")
            drop.setAccessibleDescription(f"Takes {columns} out of the warehouse {one.model}")
            drop.clicked.connect(partial(self.drop_wanted.emit, one))
            buttons[drop] = True
        keep.clicked.connect(partial(self.keep_wanted.emit, one))
        return self.lay_out(f"{one.entity}: {one.path}", facts, places.split(", "), buttons)
