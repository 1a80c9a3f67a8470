"""Where messages and versions of one key lie on a timeline."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from metl_gui.core.dimensional.loads.key_history import KeyHistory, KeyMessage, KeyVersion
from metl_gui.ui.warehouse.timeline import axis_words, timeline_of

START = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
FEBRUARY, MARCH, APRIL = (START + timedelta(days=days) for days in (0, 31, 61))


def message(moment: datetime | None, op: str = "u", row: str = "r", **rest: Any) -> KeyMessage:
    given = {"schema": "s", "is_void": False, "values": (("city", "Ulm"),), **rest}
    return KeyMessage(row=row, op=op, holds_from=moment, **given)


def version(number: int, since: datetime | None, until: datetime | None) -> KeyVersion:
    return KeyVersion(
        number=number,
        since=since,
        until=until,
        is_current=until is None,
        is_deleted=False,
        is_inferred=False,
        values=(("city", f"city {number}"),),
    )


def history(*messages: KeyMessage, versions: tuple[KeyVersion, ...] = ()) -> KeyHistory:
    return KeyHistory(table="t", key=("1",), messages=messages, versions=versions)


def test_a_late_message_has_a_higher_number_than_the_one_at_its_right() -> None:
    found = timeline_of(history(message(FEBRUARY), message(APRIL), message(MARCH)))
    assert [(item.words, item.start) for item in found.items] == [("1", 0.0), ("2", 2.0), ("3", 1.0)]


def test_each_source_row_has_a_lane_and_numbers_of_its_own() -> None:
    found = timeline_of(history(message(FEBRUARY, row="a"), message(MARCH, row="b"), message(APRIL, op="d", row="b")))
    assert [(item.lane, item.words) for item in found.items] == [(0, "1"), (1, "1"), (1, "2")]
    assert found.items[-1].is_delete
    assert found.lanes == ("s", "s")


def test_versions_touch_and_the_first_and_last_reach_beyond_the_times() -> None:
    versions = (version(1, None, FEBRUARY), version(2, FEBRUARY, MARCH), version(3, MARCH, None))
    bars = timeline_of(history(versions=versions)).items
    assert [(bar.start, bar.end) for bar in bars] == [(-0.5, 0.0), (0.0, 1.0), (1.0, 1.6)]
    assert bars[2].spoken == "Version 3: from 2026-04-01 09:30:00 to open, current. city city 3"


def test_what_another_publication_replaced_is_left_out_and_what_has_no_time_stands_before_all() -> None:
    found = timeline_of(history(message(MARCH, is_void=True), message(None)))
    assert [(item.words, item.start) for item in found.items] == [("1", -0.5)]
    assert found.times == ()


def test_the_axis_says_of_a_time_what_is_new_in_it() -> None:
    assert axis_words(FEBRUARY, None) == "2026-03-01"
    assert axis_words(FEBRUARY + timedelta(hours=1), FEBRUARY) == "10:30:00"
    assert axis_words(FEBRUARY + timedelta(milliseconds=7), FEBRUARY) == "30:00.007"
