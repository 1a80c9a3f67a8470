"""Fast lanes on a real broker: one of the project in production, one whose counts are too long for an offset."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from metl_gui.core.runs.kafka import KafkaServers
from metl_gui.stack.kafka import KafkaBroker
from tests.compatibility.making.packing import Cleaner, pack_files
from tests.compatibility.making.program import SPARK, Program
from tests.compatibility.making.project import ORDERS
from tests.compatibility.making.runs import folders, wait_for
from tests.compatibility.topics import KeptMessage, messages_of, offsets_of, send, write_messages, write_offsets
from tests.helpers.lanes import LaneThreads, LaneWorld, change, order_plan

GROUP = "kept-orders"
WIDE = {"kept-wide": 60, "kept-wider": 100}
"""By the name of a lane how many more columns it counts than fit an offset: packed they still do, or not even then."""

SINK, ERRORS = "kept.out", "kept.errors"
_UNSENT = 20
_PARTITIONS = 2


def make(program: Program, target: Path) -> None:
    """Run the lanes and write what they left into a folder of topics."""
    target.mkdir()
    with KafkaBroker() as broker:
        run = _of_the_project(program, broker, target)
        for name, columns in WIDE.items():
            _wide(broker, target, name, columns)
        cleaner = Cleaner(program.root, [broker.bootstrap])
        for path in target.glob("*.json"):
            path.write_text(cleaner.cleaned(path.read_text("utf-8"), path.name), "utf-8")
    pack_files(cleaner, program.root, target / "run.tar.xz", below=run.relative_to(program.root).as_posix())


def _of_the_project(program: Program, broker: KafkaBroker, target: Path) -> Path:
    """Let a lane of the project map most of the orders, be frozen for a while, set back and stopped."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    new: Any = NewTopic
    for topic, count in ((ORDERS, _PARTITIONS), (SINK, _PARTITIONS), (ERRORS, 1)):
        admin.create_topics([new(topic, count, 1)])[topic].result()
    orders = _orders(program.root / "source" / "payments.jsonl")
    sent, unsent = orders[:-_UNSENT], orders[-_UNSENT:]
    send(broker.bootstrap, sent)
    before = set(folders(program))
    places = ("--source", broker.address(ORDERS), "--sink", broker.address(SINK), "--errors", broker.address(ERRORS))
    how = ("--mode", "production", "--follow", "--lane", "fast", "--group", GROUP, "--tombstones", "--detach")
    program.metl("run", program.project, *places, *how, "--spark", SPARK)
    (run,) = set(folders(program)) - before

    def has_read(count: int) -> Callable[[], bool]:
        return lambda: program.metl("runs", program.project, "--show", run.name)["report"]["read"] >= count

    wait_for(has_read(len(sent)))
    for order in (("freeze",), ("unfreeze",), ("set-back", "--to", f"{ORDERS}/0/3")):
        program.metl("lane", order[0], program.project, *order[1:], "--yes")
    repeated = sum(message.partition == 0 for message in sent) - 3
    wait_for(has_read(len(sent) + repeated))
    program.metl("runs", program.project, "--stop", run.name)
    wait_for(lambda: json.loads((run / "process.json").read_bytes())["phase"] == "ended")
    (agreed,) = (topic for topic in admin.list_topics(timeout=20).topics if topic.endswith(".state"))
    topics = (ORDERS, SINK, ERRORS, f"metl.lane.{GROUP}", agreed)
    write_messages(target / f"{GROUP}.jsonl.xz", messages_of(broker.bootstrap, topics))
    write_messages(target / f"{GROUP}-unsent.jsonl.xz", unsent)
    write_offsets(target / f"{GROUP}-offsets.json", offsets_of(broker.bootstrap, [GROUP]))
    report = program.metl("runs", program.project, "--show", run.name)
    (target / f"{GROUP}-report.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return run


def _wide(broker: KafkaBroker, target: Path, name: str, columns: int) -> None:
    """Let tasks of a lane count so many columns that their counts do not fit an offset as they are."""
    world = LaneWorld(KafkaServers(bootstrap=broker.bootstrap), name, partitions=1)
    wide = ("id", "amount", *(hashlib.sha256(str(n).encode()).hexdigest() for n in range(columns)))
    plan = order_plan(world.source, versions=[wide])
    row: dict[str, Any] = {path: number for number, path in enumerate(wide)}
    for attempt in (1, 2):
        world.send(change(number, **row) for number in range(5))
        with LaneThreads(world.order(plan), plan):
            world.wait_for_read(5 * attempt)
    topics = (world.source, world.sink, world.errors, f"metl.lane.{name}")
    write_messages(target / f"{name}.jsonl.xz", messages_of(broker.bootstrap, topics))
    write_offsets(target / f"{name}-offsets.json", offsets_of(broker.bootstrap, [name]))
    (target / f"{name}-plan.json").write_bytes(plan)


def _orders(path: Path) -> Sequence[KeptMessage]:
    """Read the orders of the sample, and put something in between that no lane can map."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        message = json.loads(line)
        if message["topic"] == ORDERS:
            found.append((message["key"].encode(), message["value"] and message["value"].encode()))
    found.insert(len(found) // 2, (b'{"id": 1}', b"\xff no json"))
    return [KeptMessage(ORDERS, zlib.crc32(key) % _PARTITIONS, 0, key, value, ()) for key, value in found]
