"""Schemas at the head of the review list whose time zone a typed sink misses, each with the two ways out."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from metl_gui.core.counted import number_of
from metl_gui.core.review.missing_time_zones import MissingTimeZone
from metl_gui.ui.review.card_strip import CardStrip
from metl_gui.ui.widgets.pill import KeyButton


class TimeZoneStrip(CardStrip[MissingTimeZone]):
    """One card for each schema.

    Signals:
        zone_wanted: the ``MissingTimeZone`` whose schema is to state a zone.
        none_wanted: the ``MissingTimeZone`` whose local times hold in no one zone.
    """

    zone_wanted = Signal(object)
    none_wanted = Signal(object)

    def more_words(self, count: int) -> str:
        """Say how many more schemas state none."""
        return f"and {number_of(count, 'more schema')} without a time zone"

    def card_of(self, one: MissingTimeZone) -> QFrame:
        """Make the card of a schema."""
        facts = f"no time zone · {number_of(one.local_times, 'local time')} wanted as instants"
        state = KeyButton("State its time zone…")
        state.setAccessibleDescription(f"{one.schema}: {facts}")
        none = KeyButton("In no one zone")
        none.setToolTip("Nobody is asked again; its records stay set aside by sinks of typed columns")
        none.setAccessibleDescription(f"{one.schema}: its local times hold in no one zone")
        state.clicked.connect(partial(self.zone_wanted.emit, one))
        none.clicked.connect(partial(self.none_wanted.emit, one))
        lines = [f"{mapped.path} → {mapped.entity}: {mapped.target}" for mapped in one.attributes]
        return self.lay_out(one.schema, facts, lines, {state: True, none: True})
