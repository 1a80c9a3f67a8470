"""What is compared with other loaders comes out right with ours, and the table says what is wrong with the others."""

from __future__ import annotations

import pytest

from tests.comparisons.late_change import CASES, OURS, RIGHT, Outcome, ours, table


@pytest.mark.parametrize("case", CASES)
def test_a_change_that_comes_late_or_again_gives_the_right_versions(case: str) -> None:
    assert Outcome(OURS, case, ours(CASES[case])) == Outcome(OURS, case, RIGHT)


def test_the_table_counts_versions_that_are_missing_doubled_or_of_other_times() -> None:
    kiel, ulm, bonn = RIGHT
    doubled = Outcome("another", "late", (kiel, ("Bonn", "2026-03-01", None), bonn))
    assert (doubled.wrong, doubled.current, doubled.of_fact) == (2, ("Bonn", "Bonn"), ())
    assert (Outcome("another", "late", RIGHT).wrong, Outcome("another", "late", (bonn, ulm, kiel)).of_fact) == (
        0,
        ("Ulm",),
    )
    assert list(table([doubled]))[-1].endswith("| 2 | Bonn and Bonn | none |")
