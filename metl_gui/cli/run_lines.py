"""The report of a run in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from metl_gui.engine.kafka.servers import is_kafka

if TYPE_CHECKING:
    from metl_gui.engine.report import RunReport


def report_lines(report: RunReport) -> Iterator[str]:
    """Say in lines what became of the records."""
    yield (
        f"{'Replay' if report.is_replay else 'Run'} {report.run_id} of state {report.state} on {report.spark}: "
        f"{report.read:,} records in {report.seconds:.1f} s ({report.records_per_second:,.0f} a second)"
    )
    yield f"  mapped    {report.mapped:>9,}  into {report.messages_out:,} messages{_named(report.by_entity)}"
    yield f"  filtered  {report.filtered:>9,}"
    yield f"  set aside {report.set_aside:>9,}{_named(report.by_reason)}"
    yield f"  skipped   {report.skipped:>9,}{_named(report.by_skip)}"
    if report.from_unreviewed:
        yield f"  from blocks that nobody has confirmed{_named(report.from_unreviewed)}"
    yield from (f"  note: {problem}" for problem in report.problems)
    if report.outputs:
        form = "" if is_kafka(report.outputs) else f" ({report.format})"
        yield f"Messages{form}: {report.outputs}"
    if report.errors:
        yield f"Set aside: {report.errors}"


def _named(counts: Mapping[str, int]) -> str:
    return f": {', '.join(f'{name} {count:,}' for name, count in sorted(counts.items()))}" if counts else ""
