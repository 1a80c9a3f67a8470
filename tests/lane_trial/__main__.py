"""Measure a fast lane: ``python -m tests.lane_trial --rate 1000 --records 20000``; ``--help`` says what else."""

from __future__ import annotations

import argparse
import sys
from typing import get_args

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.core.runs.run_spec import Lane
from metl_gui.stack.kafka import KafkaBroker
from tests.lane_trial.faults import FAULTS
from tests.lane_trial.load import Form
from tests.lane_trial.trial import Result, Wanted, measure


def main(arguments: list[str]) -> int:
    """Do what is asked; 0 when nothing was lost or repeated."""
    asked = _parser().parse_args(arguments)
    wanted = Wanted(asked.records, asked.rate, asked.versions, asked.form, asked.lane, asked.partitions, asked.tasks)
    if asked.broker:
        result = measure(KafkaServers(bootstrap=asked.broker), wanted)
    else:
        with KafkaBroker() as broker:
            fault = FAULTS.get(asked.fault)
            result = measure(broker.servers, wanted, None if fault is None else lambda trial: fault(trial, broker))
    print(_shown(result))  # noqa: T201
    return 0 if result.is_right else 1


def _shown(result: Result) -> str:
    report = result.report
    figures = report.kernel
    lines = (
        f"{report.read} records, {report.messages_out} messages, {result.missing} missing, {result.repeated} repeated",
        f"{result.rate:.0f} records a second; the kernel took {figures.mean_ns:.0f} ns a record",
        f"record to message, by the broker: {result.written}",
        f"record to consumer:               {result.seen}",
        f"states {', '.join(map(str, result.states))}; the longest gap that a consumer saw was {result.gap_ms:.0f} ms",
        *result.troubles,
    )
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lane_trial", description=__doc__)
    parser.add_argument("--broker", default="", help="host:port of a broker; by default one is started")
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--rate", type=float, default=0.0, help="records a second; 0 writes all before the lane starts")
    parser.add_argument("--versions", type=int, default=1)
    parser.add_argument("--form", choices=get_args(Form), default="json+schema", help="of keys and values")
    parser.add_argument("--lane", choices=get_args(Lane), default="fast")
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--fault", choices=sorted(FAULTS), help="what goes wrong after some seconds; not with --broker")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
