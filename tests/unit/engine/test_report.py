from __future__ import annotations

import pytest

from metl_gui.core.runs.report import Tally, check_sums
from metl_gui.errors import BugError


def test_tallies_add_up_name_by_name() -> None:
    total = Tally(read=1, by_entity={"a": 1})
    total.add(Tally(read=2, by_entity={"a": 1, "b": 3}))
    assert (total.read, total.by_entity) == (3, {"a": 2, "b": 3})


def test_tallies_made_apart_share_no_counts() -> None:
    first, second = Tally(), Tally()
    first.add(Tally(by_skip={"key": 1}))
    assert second.by_skip == {}


@pytest.mark.parametrize(
    "tally",
    [
        Tally(read=2, mapped=1),
        Tally(messages_out=1),
        Tally(read=1, set_aside=1),
        Tally(read=1, skipped=1, by_skip={"key": 2}),
    ],
)
def test_counts_that_do_not_add_up_are_a_fault_of_the_program(tally: Tally) -> None:
    with pytest.raises(BugError, match="do not add up"):
        check_sums(tally)


def test_counts_of_every_fate_add_up() -> None:
    check_sums(
        Tally(
            read=4,
            mapped=1,
            filtered=1,
            set_aside=1,
            skipped=1,
            messages_out=2,
            by_entity={"a": 1, "b": 1},
            by_reason={"malformed": 1},
            by_skip={"tombstone": 1},
        )
    )
