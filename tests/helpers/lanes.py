"""Tasks of a fast lane as threads of the test. Spark adds to them that it places them and starts them again."""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec  # type: ignore[attr-defined]

from metl_gui.core.runs.kafka import KafkaAddress, KafkaServers
from metl_gui.core.runs.report import Tally
from metl_gui.core.runs.run_spec import RunSpec
from metl_gui.engine.kafka.clients import AWAY, retry_until_available
from metl_gui.engine.kafka.offsets import Lister
from metl_gui.engine.kafka.topic_messages import PARTITIONER
from metl_gui.engine.kafka.topic_orders import TopicOrder
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.lanes.committed_offsets import Committed
from metl_gui.engine.lanes.coordination.announcements import begin_lane
from metl_gui.engine.lanes.offset_metadata import OffsetMetadata
from metl_gui.engine.lanes.order import Failure, LaneOrder, PartitionId, failed_key, stop_key
from metl_gui.engine.lanes.task import LaneTask
from metl_gui.engine.lanes.topic import LaneTopic, make_topic
from metl_gui.engine.lanes.transactional_client import abort_stale_transactions
from metl_gui.errors import RunError
from metl_gui.store.lease import LeaseHolder
from metl_gui.workbench.lanes.control import Lane
from metl_gui.workbench.runs.production import LiveRun, ProductionOrder
from metl_gui.workbench.user_folders import ProcessFacts, ProcessPhase, write_facts
from tests.helpers.run_specs import changed, run_spec

SECONDS = 180.0
_LOOK_SECONDS = 0.02
_REST = 2.0
"""How many times as long as a look takes nobody looks again: whatever is waited for needs the processor too."""
_CHOICE_SECONDS = 30.0


def until(is_so: Callable[[], object], what: object = "what was waited for") -> None:
    """Wait for a condition."""
    end = time.monotonic() + SECONDS
    while True:
        began = time.monotonic()
        if is_so():
            return
        now = time.monotonic()
        assert now < end, f"{what} did not come"
        time.sleep(max(_LOOK_SECONDS, _REST * (now - began)))


def order_plan(schema: str, state: int = 7, versions: Iterable[tuple[str, ...]] = (("id", "amount"),)) -> bytes:
    """Compile one schema, named as its topic, whose versions feed the entity ``order``."""
    made = []
    for number, paths in enumerate(versions, 1):
        block = BlockPlan("order", "1", tuple((path, f"own.{path}") for path in paths))
        made.append(VersionPlan(str(number), "", paths, required=paths, key=("id",), blocks=(block,), is_inferred=True))
    return plans.encode(Plan(state, f"hash{state}", (SchemaPlan(schema, tuple(made)),)))


def change(number: int, op: str = "c", **more: object) -> tuple[bytes, bytes]:
    """Make key and value of a change of the table ``orders``."""
    row = {"id": number, "amount": number * 10, **more}
    value = {
        "before": row if op == "d" else None,
        "after": None if op == "d" else row,
        "source": {"connector": "postgresql", "name": "shop", "schema": "public", "table": "orders", "lsn": number},
        "op": op,
        "ts_ms": 1,
    }
    return json.dumps({"id": number}).encode(), json.dumps(value).encode()


class Sent(NamedTuple):
    """One message that a consumer has which reads what is committed."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: dict[str, str]

    @property
    def position(self) -> str:
        return self.headers["metl.position"]

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.value or b"null"))


class LaneWorld:
    """Topics of one lane on a broker.

    Args:
        servers: the broker.
        name: what everything is named after.
        partitions: of source and sink.
        error_settings: of the error topic.
        table: what is read is the topic of.
    """

    def __init__(
        self,
        servers: KafkaServers,
        name: str,
        partitions: int = 2,
        error_settings: dict[str, str] | None = None,
        table: str = "orders",
    ) -> None:
        self.servers = servers
        self.name = name
        self.source, self.sink, self.errors = f"{name}.public.{table}", f"{name}.out", f"{name}.errors"
        self.admin = AdminClient(dict(servers.client_settings))
        self._watching: Committed | None = None
        self.make(self.source, partitions)
        self.make(self.sink, partitions)
        self.make(self.errors, 1, error_settings)
        self._producer = Producer(
            {
                **servers.client_settings,
                "linger.ms": 1,
                "enable.idempotence": True,
                "partitioner": PARTITIONER,
                "topic.metadata.refresh.interval.ms": 200,
                "log_level": 0,
            }
        )

    def make(self, topic: str, partitions: int = 2, settings: dict[str, str] | None = None) -> None:
        """Make a topic, and make it anew where a client of an earlier world asked for it after it was deleted.

        A broker makes what a producer asks for, and a producer asks for its topics until it is gone.
        """
        new: Any = NewTopic
        wanted = new(topic, partitions, 1, config=settings or {})
        end = time.monotonic() + SECONDS
        while True:
            try:
                self.admin.create_topics([wanted])[topic].result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS or time.monotonic() > end:
                    raise
                with suppress(KafkaException):  # it may be gone by now
                    self.admin.delete_topics([topic])[topic].result()
            else:
                return

    def order(self, plan: bytes, state: int = 7, **others: Any) -> LaneOrder:
        """Ask for the lane, and make what it needs; the others are of the order or of the run."""
        own = {name: others.pop(name) for name in ("token", "topics") if name in others}
        asked: dict[str, Any] = {
            "run_id": f"run-{self.name}",
            "mode": "production",
            "group": self.name,
            "state": state,
            "hash": f"hash{state}",
        }
        run = run_spec(**(asked | others))
        facts: dict[str, Any] = {"token": f"token-{time.monotonic_ns()}", "topics": (self.source,)}
        order = LaneOrder(
            run=run,
            sink=TopicOrder(self.servers, self.sink, has_tombstones=run.sink.has_tombstones),
            errors=TopicOrder(self.servers, self.errors),
            plan="",
            **(facts | own),
        )
        make_topic(self.servers, order.lane_topic)
        if run.mapping.matrix:
            begin_lane(self.servers, run.mapping.matrix, order.group, msgspec.structs.replace(run.mapping, plan=plan))
        return order

    def spec(self, plan: bytes, folder: Path, state: int = 7) -> RunSpec:
        """Ask for the lane as a run."""
        source, sink, errors = (
            f"kafka://{self.servers.bootstrap}/{topic}" for topic in (self.source, self.sink, self.errors)
        )
        return run_spec(
            run_id=f"run-{self.name}",
            plan=plan,
            source=source,
            sink=sink,
            errors=errors,
            folder=str(folder / "run"),
            mode="production",
            state=state,
            hash=f"hash{state}",
            lane="fast",
            follow=True,
            group=self.name,
            servers=(self.servers,) * 3,
        )

    def lane(self, order: LaneOrder, folder: Path) -> Lane:
        """Return the lane as whoever orders it knows it; its process is the test's, in which its tasks are kept."""
        folder.mkdir(parents=True, exist_ok=True)
        facts = write_facts(
            folder, ProcessFacts(run_id=order.run_id, holder=LeaseHolder.here("Ada"), phase=ProcessPhase.RUNNING)
        )
        spec = changed(
            self.spec(b"", folder),
            source=f"kafka://{self.servers.bootstrap}/{','.join(order.topics)}",
            matrix=order.run.mapping.matrix,
        )
        run = LiveRun(order.run_id, folder, ProductionOrder(kept=spec.as_kept, target="local[2]", project=""), facts)
        return Lane(run, order.group, self.servers, None)

    def send(self, messages: Iterable[tuple[bytes | None, bytes | None]]) -> None:
        """Write into the source, and wait until it is there."""
        for key, value in messages:
            self._producer.produce(self.source, value, key)
            self._producer.poll(0)
        assert self._producer.flush(SECONDS) == 0

    @property
    def committed(self) -> Committed:
        """What asks for what the lane committed."""
        return Committed(Lister(self.servers, KafkaAddress(topics=(self.source,))), self.name)

    def notes(self) -> dict[PartitionId, tuple[int, OffsetMetadata]]:
        """Return where the lane is."""
        return self.committed.notes(f"run-{self.name}")

    def tally(self) -> Tally:
        """Add up what the lane counted, as a report does."""
        return self._tally_of(self.committed)

    def _tally_of(self, committed: Committed) -> Tally:
        total = Tally()
        for place, (_, note) in committed.notes(f"run-{self.name}").items():
            total.add(committed.tally(place, note))
        return total

    def wait_for_read(self, count: int) -> None:
        """Wait until the lane has counted so many records."""
        until(lambda: self._has_read(count), f"record {count}")

    def _has_read(self, count: int) -> bool:
        """Ask as who leads a lane does: servers that were started again a moment ago may not answer for a while.

        What asks stays for the next look, as the driver of a lane has one for all of its looks.
        """
        if self._watching is None:
            self._watching = self.committed
        try:
            return self._tally_of(self._watching).read >= count
        except RunError as error:
            self._watching = None
            if isinstance(error.__cause__, KafkaException) and error.__cause__.args[0].code() in AWAY:
                return False
            raise

    def is_held_up(self) -> bool:
        """Whether a transaction that is open keeps consumers from what stands behind it in the sink."""

        def ends(level: IsolationLevel) -> list[int]:
            specs: Any = OffsetSpec
            asked = {TopicPartition(self.sink, number): specs.latest() for number in range(2)}
            return [one.result().offset for one in self.admin.list_offsets(asked, isolation_level=level).values()]

        levels = IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED
        # A broker that got no processor for two seconds has to be chosen again.
        committed, whole = (retry_until_available(partial(ends, level), _CHOICE_SECONDS) for level in levels)
        return committed != whole

    def sent(self, *topics: str) -> list[Sent]:
        """Read topics from their beginning to what is committed now."""
        consumer = Consumer(
            {
                **self.servers.client_settings,
                "group.id": f"{self.name}-reads",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        known = consumer.list_topics(timeout=SECONDS).topics
        left = {(topic, number) for topic in topics for number in known[topic].partitions}
        consumer.assign([TopicPartition(*place, OFFSET_BEGINNING) for place in left])
        found: list[Sent] = []
        while left:
            message = consumer.poll(SECONDS)
            assert message is not None
            if message.error() is not None:
                left.discard((message.topic() or "", message.partition() or 0))
                continue
            headers: Any = message.headers() or []
            told = {name: value.decode() for name, value in headers}
            found.append(Sent(message.topic() or "", message.key(), message.value(), told))
        consumer.close()
        return found


class LaneThreads:
    """Tasks of a lane that go on while a ``with`` block lasts.

    Args:
        order: the lane's.
        plan: what it begins with.
        tasks: how many.
    """

    def __init__(self, order: LaneOrder, plan: bytes, tasks: int = 1) -> None:
        self.order = order
        self.tasks = [LaneTask(order, number, plan) for number in range(tasks)]
        self.words = LaneTopic(order.servers, order.lane_topic)
        self._threads = [threading.Thread(target=task.run, daemon=True) for task in self.tasks]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.words.publish(stop_key(self.order.run_id), self.order.token.encode(), SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)
        self.words.close()
        if any(thread.is_alive() for thread in self._threads):
            faulthandler.dump_traceback()
        assert not any(thread.is_alive() for thread in self._threads)
        abort_stale_transactions(self.order, len(self.tasks))  # as who leads a lane does

    @property
    def failure(self) -> Failure | None:
        """What a task said for which there is no help."""
        texts = self.words.under(failed_key(self.order.run_id)).values()
        return next((msgspec.json.decode(text, type=Failure) for text in texts), None)


class TaskProcess:
    """A task of a lane in a process of its own while a ``with`` block lasts; it ends by a kill, amid whatever it does.

    Args:
        order: the lane's.
        plan: what it begins with.
    """

    def __init__(self, order: LaneOrder, plan: bytes) -> None:
        self._process = multiprocessing.get_context("spawn").Process(target=_run_task, args=(order, plan), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join(SECONDS)
        self._process.close()


def _run_task(order: LaneOrder, plan: bytes) -> None:
    LaneTask(order, 0, plan).run()


def again(found: Iterable[Sent]) -> list[str]:
    """Return the positions that came more than once."""
    return [position for position, count in Counter(one.position for one in found).items() if count > 1]
