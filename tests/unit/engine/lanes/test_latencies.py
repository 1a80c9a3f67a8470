"""How long records took, in buckets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.runs.lanes import LatencyFigures
from metl_gui.engine.lanes.partition_state import Latencies, figures_of, merged

MILLISECONDS = st.floats(-1000.0, 1e7)


@given(st.lists(MILLISECONDS, min_size=1, max_size=99))
def test_many_are_counted_as_few_are(times: list[float]) -> None:
    few, many = Latencies(), Latencies()
    few.add(times)
    many.add(times * 2 + times * 98)
    assert {bucket: count * 100 for bucket, count in few.histogram().items()} == many.histogram()


def test_quantiles_lie_within_a_twentieth_of_the_times() -> None:
    latencies = Latencies()
    latencies.add([10.0] * 90 + [40.0] * 8 + [200.0] * 2)
    figures = figures_of(latencies.histogram())
    for found, wanted in ((figures.p50, 10.0), (figures.p95, 40.0), (figures.p99, 200.0)):
        assert found == pytest.approx(wanted, rel=0.05)
    assert figures.records == 100


def test_partitions_add_up_and_nothing_has_no_figures() -> None:
    assert merged([{1: 2}, {1: 3, 4: 1}, {}]) == {1: 5, 4: 1}
    assert figures_of({}) == LatencyFigures()
