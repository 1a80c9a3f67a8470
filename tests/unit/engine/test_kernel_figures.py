from __future__ import annotations

import msgspec
import pytest

from metl_gui.core.runs.report import KernelFigures, Tally, bucket_of, quantile


def test_quantiles_lie_within_a_tenth_of_the_batches_they_sum_up() -> None:
    figures = KernelFigures()
    for time_ns in range(100, 1100):
        figures.note(10, 10 * time_ns)

    assert figures.mean_ns == pytest.approx(599.5)
    for share in (0.5, 0.95, 0.99):
        assert figures.quantile_ns(share) == pytest.approx(100 + 1000 * share, rel=0.1)


def test_a_batch_without_records_counts_nothing_and_no_batch_has_no_quantile() -> None:
    figures = KernelFigures()
    figures.note(0, 500)

    assert figures == KernelFigures()
    assert (figures.mean_ns, figures.hit_rate, figures.quantile_ns(0.5)) == (0.0, 0.0, 0.0)


def test_the_slowest_batch_is_the_last_quantile() -> None:
    assert bucket_of(900_000) == bucket_of(quantile({bucket_of(100): 1000, bucket_of(900_000): 1}, 1.0))


def test_figures_of_tasks_add_up_and_survive_the_way_through_json() -> None:
    first, second = Tally(), Tally()
    for tally, times in ((first, (400, 800)), (second, (1600,))):
        for time_ns in times:
            tally.kernel.note(100, 100 * time_ns)
    first.kernel.column_sets, second.kernel.column_sets = 7, 3
    first.kernel.hits, second.kernel.hits, second.kernel.misses = 30, 45, 25
    first.by_attribute = {"payment@2": {"amount": 3}}
    second.by_attribute = {"payment@2": {"amount": 4, "note": 1}, "rate@1": {"day": 2}}

    first.add(msgspec.json.decode(msgspec.json.encode(second), type=Tally))

    assert first.kernel.batches == 3
    assert first.kernel.column_sets == 7
    assert first.kernel.hit_rate == 0.75
    assert first.by_attribute == {"payment@2": {"amount": 7, "note": 1}, "rate@1": {"day": 2}}


def test_what_one_tally_counts_never_shows_in_another() -> None:
    first, second = Tally(), Tally()
    first.kernel.note(1, 100)

    assert second.kernel == KernelFigures()
