"""The report of a lane, from what it committed: also of one that was killed, from any computer that reaches Kafka."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from metl_gui.engine.kafka.listing import Lister
from metl_gui.engine.kafka.servers import KafkaServers, parse_address
from metl_gui.engine.lanes.committed import Committed
from metl_gui.engine.lanes.lane_order import Place, group_of
from metl_gui.engine.lanes.offset_notes import OffsetNote
from metl_gui.engine.report import RunReport, Tally, check_sums
from metl_gui.engine.runs import ROLES, RunSpec
from metl_gui.errors import RunError


def _committed_of(spec: RunSpec) -> Committed:
    servers = spec.servers_of("source")
    if servers is None:
        raise no_topics("source", spec.source)
    return Committed(Lister(servers, parse_address(spec.source), is_strict=False), group_of(spec.group, spec.run_id))


def lane_report(
    spec: RunSpec,
    target: str,
    *,
    is_stopped: bool = False,
    seconds: float = 0.0,
    problems: tuple[str, ...] = (),
    failure: str = "",
) -> RunReport:
    """Say what the transactions of a lane put in place so far.

    Args:
        spec: the run, with its servers.
        target: the Spark target.
        is_stopped: somebody stopped it, or it died.
        seconds: how long it ran.
        problems: what a person should know.
        failure: why it ended before its time.

    Raises:
        RunError: the servers do not answer.
        BugError: the counts do not add up.
    """
    tally, states = Tally(), []
    with contextlib.closing(_committed_of(spec)) as asked:
        known = {place: note for place, (_, note) in sorted(asked.all_notes().items())}
        notes = [note for note in known.values() if note.run == spec.run_id]
        for place, note in known.items():
            if note.run == spec.run_id:
                tally.add(asked.tally(place, note))
                states += [state for state in note.states if state not in states]
    check_sums(tally)
    newest = next((note for note in notes if states and note.states[-1:] == (states[-1],)), None)
    return RunReport(
        run_id=spec.run_id,
        mode=spec.mode,
        spark=target,
        state=states[-1] if states else spec.state,
        hash=newest.hash if newest is not None else spec.hash,
        seconds=round(seconds, 3),
        records_per_second=round(tally.read / seconds, 1) if seconds else 0.0,
        outputs=spec.sink,
        errors=spec.errors if tally.set_aside else "",
        problems=(*spec.notes, *problems, *_others(spec, known)),
        source=spec.source,
        states=tuple(states) if len(states) > 1 else (),
        is_stopped=is_stopped,
        failure=failure,
        **{name: getattr(tally, name) for name in Tally.__struct_fields__},
    )


def _others(spec: RunSpec, known: Mapping[Place, OffsetNote]) -> tuple[str, ...]:
    """Tell of partitions that hold the counts of another run of the group."""
    others = [note.run for note in known.values() if note.run != spec.run_id and not note.is_carried]
    if not others:
        return ()
    told = (
        f"In {len(others)} of {len(known)} partitions run {', '.join(sorted(set(others)))} counted last, in the same "
        f"group {spec.group}: what this run counted there before is not among these figures."
    )
    return (told,)


def no_topics(what: str, place: str) -> RunError:
    """Say that a fast lane goes from topics to topics."""
    return RunError(
        "A fast lane goes from Kafka topics to Kafka topics.",
        f"Its {what} is {place or 'not given'}.",
        f"Give kafka://host:port/topic as its {what}, or use --lane batch.",
    )


def servers_of_lane(spec: RunSpec) -> tuple[KafkaServers, KafkaServers, KafkaServers]:
    """Return the servers of source, sink and errors.

    Raises:
        RunError: one of them is not in Kafka.
    """
    found = []
    for role in ROLES:
        servers = spec.servers_of(role)
        if servers is None:
            raise no_topics("error topic" if role == "errors" else role, getattr(spec, role))
        found.append(servers)
    source, sink, errors = found
    return source, sink, errors
