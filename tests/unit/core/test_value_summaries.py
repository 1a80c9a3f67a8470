"""What values are said to be, counted within bounds."""

from __future__ import annotations

from metl_gui.core.project.value_summaries import MOST_DIFFERENT, ValueCounts


def counted(*values: str | None) -> ValueCounts:
    """Count values; an empty text holds nothing."""
    found = ValueCounts()
    for value in values:
        found.take(value, is_empty=value == "")
    return found


def test_shares_empty_different_and_common_values_are_told_in_a_line() -> None:
    found = counted("EUR", "EUR", "USD", "USD", "EUR", "CHF", "", None)
    assert found.words() == "8 samples: 88 % filled, 1 empty, 3 different, mostly EUR (3), USD (2)"
    assert counted(None).words() == "1 sample: 0 % filled"
    assert counted("a", "b").words() == "2 samples: 100 % filled, 2 different"
    assert ValueCounts().words() == ""


def test_only_all_are_100_percent_and_only_none_are_none() -> None:
    assert "99 % filled" in counted(*["x"] * 999, None).words()
    assert "less than 1 % filled" in counted(*[None] * 999, "x").words()


def test_of_many_different_values_some_are_told_apart_and_the_rest_is_counted() -> None:
    values = [str(at) for at in range(MOST_DIFFERENT + 40)]
    found = counted(*values, *values[:3])
    assert (len(found.counts), found.others, found.present) == (MOST_DIFFERENT, 40, MOST_DIFFERENT + 43)
    assert "500 or more different, mostly 0 (2), 1 (2), 2 (2)" in found.words()


def test_what_was_counted_in_two_places_adds_up_within_the_same_bound() -> None:
    found = counted("a", "", None)
    found.add(counted("a", "b"))
    assert (found.messages, found.present, found.empty, dict(found.counts)) == (5, 4, 1, {"a": 2, "b": 1})
    many = counted(*(str(at) for at in range(MOST_DIFFERENT)))
    found.add(many)
    assert len(found.counts) == MOST_DIFFERENT
    assert found.others == 2


def test_a_long_value_is_cut() -> None:
    assert f"mostly {'x' * 23}… (2)" in counted("x" * 60, "x" * 60).words()
