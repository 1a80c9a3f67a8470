"""Runs as they would have been: events, reports, error stores and run folders, without any Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from metl_gui.core.runs.events import EngineEvent, RunProgressed, RunStarted, encode_event
from metl_gui.core.runs.report import KernelFigures, RunReport, Tally, bucket_of, check_sums
from metl_gui.store.lease import LeaseHolder, process_start
from metl_gui.workbench.runs.production import ORDER, LiveRun, ProductionOrder, find_run
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import PROCESS, ProcessFacts, ProcessPhase, run_folder
from tests.helpers.run_specs import run_spec

TICK = 0.25
_A_TICK = 1_000


def tally_at(tick: int, entities: Iterable[str] = ("payment", "customer"), **more: Any) -> Tally:
    """Return what is counted after so many quarters of a second: 1,000 records each, 10 filtered, 5 set aside."""
    read, aside, filtered = _A_TICK * tick, 5 * tick, 10 * tick
    by_entity = {entity: (read - aside - filtered) // (at + 1) for at, entity in enumerate(entities)}
    kernel = KernelFigures(
        batches=tick, records=read, nanoseconds=read * 410, column_sets=7, hits=read - tick, misses=tick,
        histogram={bucket_of(410): tick - tick // 10, bucket_of(900): tick // 10}, is_compiled=True,
    )  # fmt: skip
    tally = Tally(
        read=read,
        mapped=read - aside - filtered,
        filtered=filtered,
        set_aside=aside,
        messages_out=sum(by_entity.values()),
        by_entity=by_entity,
        by_reason={"unknown_version": aside - 2 * tick, "malformed": 2 * tick},
        by_version={"fx.payments.orders@4": read},
        by_attribute={"payment@2.0.0": {"payment_id": by_entity.get("payment", 0), "amount": filtered}},
        bytes_in=read * 400,
        kernel=kernel,
    )
    tally = msgspec.structs.replace(tally, **more)
    check_sums(tally)
    return tally


def progress(run_id: str, tick: int, total: int = 0, **more: Any) -> RunProgressed:
    """Return what a run tells at a tick; ``total`` ticks make all of it."""
    known = {name: more.pop(name) for name in ("bytes_waiting", "batch") if name in more}
    return RunProgressed(
        run_id,
        tick * TICK,
        total * _A_TICK,
        tick * _A_TICK,
        tally_at(tick, **more),
        **known,
    )


def course(run_id: str, ticks: int, **more: Any) -> list[EngineEvent]:
    """Return all that a run tells until a tick."""
    return [
        RunStarted(run_id, 1, ticks * _A_TICK),
        *(progress(run_id, at, ticks, **more) for at in range(1, ticks + 1)),
    ]


def keep_recorded(workbench: Workbench, run_id: str, ticks: int = 20, **more: Any) -> RunReport:
    """Keep a run that ended after so many ticks with a project; ``more`` are members of its report."""
    tally = tally_at(ticks, **{name: more.pop(name) for name in Tally.__struct_fields__ if name in more})
    counts = {name: getattr(tally, name) for name in Tally.__struct_fields__}
    whole: dict[str, object] = {
        "run_id": run_id,
        "mode": "test",
        "spark": "local[2]",
        "state": workbench.document.state,
        "hash": "",
        "seconds": ticks * TICK,
        "records_per_second": 4.0 * _A_TICK,
        "source": "/messages/cdc",
        **counts,
        **more,
    }
    report = msgspec.convert(whole, RunReport, from_attributes=True)
    workbench.add_run(report.as_json(), list(course(run_id, ticks)))
    return report


def keep_live(
    workbench: Workbench, run_id: str, process_id: int, follow: bool = True, events: Iterable[EngineEvent] = ()
) -> LiveRun:
    """Make the run folder of a production run, with a process that is there for it."""
    folder = run_folder(workbench.project_id, run_id)
    folder.mkdir(parents=True)
    spec = run_spec(
        run_id=run_id, plan=b"", source="/messages/cdc", sink=str(folder / "messages"), folder=str(folder),
        mode="production", state=workbench.document.state, follow=follow, checkpoint=str(folder / "checkpoint"),
    )  # fmt: skip
    order = ProductionOrder(kept=spec.as_kept, target="local[2]", project=str(workbench.path))
    (folder / ORDER).write_bytes(msgspec.json.encode(order))
    say_phase(folder, run_id, ProcessPhase.RUNNING, process_id)
    append(folder, events)
    return find_run(workbench.project_id, run_id)


def say_phase(folder: Path, run_id: str, phase: ProcessPhase, process_id: int) -> None:
    """Write down how far a process is, as it does itself."""
    holder = replace(LeaseHolder.here("Ada"), process_id=process_id, process_start=process_start(process_id))
    facts = ProcessFacts(run_id=run_id, holder=holder, phase=phase)
    (folder / PROCESS).write_bytes(msgspec.json.encode(facts))


def append(folder: Path, events: Iterable[EngineEvent]) -> None:
    """Tell events as a production run does."""
    with (folder / "events.jsonl").open("ab") as file:
        for event in events:
            file.write(encode_event(event) + b"\n")


def keep_errors(folder: Path, by_reason: Mapping[str, int]) -> Path:
    """Write an error store with so many records of each reason."""
    for reason, count in by_reason.items():
        part = folder / f"reason={reason}" / "part-000000-0.jsonl"
        part.parent.mkdir(parents=True)
        lines = (b'{"reason":"%s","schema":"fx.s","version":"1","position":"f@%d","raw":"{}"}' % (reason.encode(), at)
                 for at in range(count))  # fmt: skip
        part.write_bytes(b"".join(line + b"\n" for line in lines))
    return folder
