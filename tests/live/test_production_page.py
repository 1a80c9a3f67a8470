"""The page about production: every command on it, in its order, on real servers.

The commands are read out of the page. Only what names somebody's servers, states and runs is put in their place
(``stand_ins``), and what a person would answer is answered: a secret that is asked for, ``--yes`` where it is asked
for. Beside them a shop goes on with its business, and releases a new version where the page speaks of one.
"""

from __future__ import annotations

import copy
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from metl_gui.engine.kafka.inspection import count_live_rows, first_records
from metl_gui.stack.apicurio import ApicurioRegistry
from metl_gui.stack.component import HOST, ask
from metl_gui.stack.connect import JSON_CONVERTER, Connector, ConnectWorker
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.postgres import OWNER, PostgresServer
from metl_gui.workbench.importing.remote_sources import offers
from metl_gui.workbench.live import ADDED_COLUMN, SERVICE, TABLES, Shop
from metl_gui.workbench.user_folders import PROCESS
from tests.helpers import documents
from tests.helpers.forked_commands import CommandServer
from tests.helpers.keyrings import FileKeyring
from tests.helpers.killing import end_process_of
from tests.helpers.lanes import until
from tests.helpers.ways_in import PASSWORD, SCRAMMER, WaysIn

pytestmark = [pytest.mark.live, pytest.mark.spark, pytest.mark.xdist_group("own servers")]

PAGE = documents.PAGES / "guide" / "production.md"
ELSEWHERE = "metl demo --live"
"""What a test of its own runs."""
RELEASE = "metl review shop.metl --list"
"""Before this the page speaks of a release."""
STACK = "tests.live_stack"
"""Holds up servers of its own, which nothing else on the page uses."""
LONG = {"watch": ("Watching @reg", 130), STACK: ("All of it runs until Ctrl+C.", 0)}
"""What goes on until Ctrl+C, what it says when it is at work, and how it ends."""
_TOOLS = {"metl": ["-m", "metl_gui.cli.main"], "python": []}
_SECONDS = 300
_STEPS = 2
"""Few things happen at once in the shop: each command waits for some of them, and for none of their number."""

_ANEW = {"snapshot.mode": "always"}
"""A start after a failure reads the rows again: where it had noted them as read, nothing else would bring schemas."""
_JSON = {
    "value.converter": JSON_CONVERTER,
    "value.converter.schemas.enable": "false",
    "snapshot.mode": "when_needed",  # the place where the one that registered was is gone
}
_LIVE = re.compile(r"^State (\d+)\b.* is live", re.MULTILINE)
_STARTED = re.compile(r"^Run (\S+) has started", re.MULTILINE)


@dataclass
class Going:
    """What goes on until Ctrl+C.

    Args:
        program: its process.
        told: the file of what it says.
        sign: what it says when it is at work.
        code: how it ends.
    """

    program: subprocess.Popen[bytes]
    told: Path
    sign: str
    code: int

    def has_said(self, words: str) -> bool:
        """Whether it has said something so far."""
        assert self.program.poll() is None, self.told.read_text()
        return words in self.told.read_text()

    def stop(self) -> None:
        """Press Ctrl+C once it is at work."""
        until(lambda: self.has_said(self.sign), self.sign)
        self.program.send_signal(signal.SIGINT)
        assert self.program.wait(_SECONDS) == self.code, self.told.read_text()


@dataclass
class Reader:
    """Somebody who follows the page.

    Args:
        folder: where they sit.
        environment: of their programs.
        stand_ins: what they write where the page names servers of its own.
        secrets: what they answer, by the name of a profile.
        commands: runs what ends by itself.
    """

    folder: Path
    environment: dict[str, str]
    stand_ins: dict[str, str]
    secrets: dict[str, str]
    commands: CommandServer
    states: list[str] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)

    def follow(self, words: list[str]) -> None:
        """Do what a line says, and agree to it where that is asked for."""
        words = [self._own(word) for word in words]
        done = self._run(words)
        if done.returncode == 3 and "--yes" in done.stdout:
            done = self._run([*words, "--yes"])
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}\n{done.stderr}"
        assert done.stdout
        self.states += (state for state in _LIVE.findall(done.stdout) if state not in self.states)
        self.runs += _STARTED.findall(done.stdout)

    def start(self, words: list[str], stack: ExitStack) -> Going:
        """Start what goes on until Ctrl+C."""
        told = self.folder / f"told-{len(list(self.folder.iterdir()))}.txt"
        command = self._command([self._own(word) for word in words])
        with told.open("wb") as file:
            program = stack.enter_context(
                subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=file, stderr=subprocess.STDOUT)
            )
        stack.callback(program.kill)
        sign, code = next(how for name, how in LONG.items() if name in words)
        return Going(program, told, sign, code)

    def _run(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        program, *arguments = words
        assert program == "metl"
        return self.commands.run(arguments, self.secrets[words[3]] if words[:3] == ["metl", "profile", "add"] else "")

    def _command(self, words: list[str]) -> list[str]:
        return [sys.executable, *_TOOLS[words[0]], *words[1:]]

    def _own(self, word: str) -> str:
        own = {"RUN": self.runs[-1:], "9": self.states[:1], "12": self.states[-1:]}
        head, sign, last = word.rpartition(":")
        if own.get(last):
            return f"{head}{sign}{own[last][0]}"
        for theirs, ours in self.stand_ins.items():
            word = word.replace(theirs, ours)
        return word


@pytest.fixture
def shop(
    postgres: PostgresServer, connect: ConnectWorker, apicurio: ApicurioRegistry, own_name: str
) -> Iterator[tuple[Shop, PostgresServer]]:
    """The shop in a database of its own; its schemas are registered as Avro, its changes are written as JSON."""
    own = copy.copy(postgres)
    own.database = own_name
    postgres.execute(f"CREATE DATABASE {own_name}")
    made = Shop(own, documents.ROOT / "sample_projects" / "shop", steps=_STEPS)
    made.make()
    registering = connect.watch_tables(own, list(TABLES), SERVICE, settings=apicurio.avro_settings() | _ANEW)
    until(lambda: has_registered(registering, apicurio), Registration(registering))
    registering.delete()
    connect.drop_slot(own, registering)
    remove_topics(connect.broker)
    connector = connect.watch_tables(own, list(TABLES), SERVICE, settings=_JSON)
    made.open()
    yield made, own
    made.close()
    connector.delete()
    connect.drop_slot(own, connector)
    postgres.execute(f"DROP DATABASE {own_name} WITH (FORCE)")


@dataclass(frozen=True)
class Registration:
    """What is waited for while a connector registers schemas; says what the connector says where it does not come."""

    connector: Connector

    def __str__(self) -> str:
        """Ask for its status, with what it failed with."""
        status = self.connector.worker.ask("GET", f"/connectors/{self.connector.name}/status")
        return f"the registration of the tables by {json.dumps(status)}"


def has_registered(connector: Connector, apicurio: ApicurioRegistry) -> bool:
    """Return whether the schema of each table is registered.

    A registry that is slow to write makes the converter fail, and Connect starts no task again by itself.
    """
    if connector.state == "FAILED":
        connector.restart()
    names = {one.name for one in offers(apicurio.v3)}
    return names >= {f"{SERVICE}.{table}-value" for table in TABLES}


def remove_topics(kafka: KafkaBroker) -> None:
    """Remove the topics of the shop."""
    client = AdminClient(dict(kafka.servers.client_settings))

    def left() -> list[str]:
        return [name for name in client.list_topics(timeout=_SECONDS).topics if name.startswith(f"{SERVICE}.")]

    for done in client.delete_topics(left()).values():
        done.result()
    until(lambda: not left(), "the end of the topics")


def register(apicurio: ApicurioRegistry, column: str) -> None:
    """Register the schema of the altered table, as its service does when it is released."""
    versions = f"{apicurio.confluent}/subjects/{SERVICE}.{ADDED_COLUMN.table}-value/versions"
    envelope = json.loads(ask("GET", f"{versions}/latest")["schema"])
    row = next(one for one in envelope["fields"] if one["name"] == "before")["type"][1]
    row["fields"].append({"name": column, "type": ["null", "string"], "default": None})
    ask("POST", versions, {"schema": json.dumps(envelope)})


@pytest.fixture
def reader(
    shop: tuple[Shop, PostgresServer],
    apicurio: ApicurioRegistry,
    ways_in: WaysIn,
    own_folders: dict[str, str],
    tmp_path: Path,
) -> Iterator[Reader]:
    """Somebody in a folder of their own, with a keyring; no run of theirs outlives the test."""
    folder = tmp_path / "reader"
    folder.mkdir()
    (folder / "sample_projects").symlink_to(documents.ROOT / "sample_projects")
    keyring = {
        "PYTHONPATH": str(documents.ROOT),
        "PYTHON_KEYRING_BACKEND": f"{FileKeyring.__module__}.{FileKeyring.__qualname__}",
        FileKeyring.FILE_VARIABLE: str(tmp_path / "keyring.json"),
    }
    _, database = shop
    stand_ins = {
        "broker.example.com:9093": f"localhost:{ways_in.company}",
        "sasl.username=me": f"sasl.username={SCRAMMER}",
        "/etc/ssl/company.pem": str(ways_in.certificates.authority),
        "https://registry.example.com": apicurio.url,
        "me@db.example.com:5432/shop": f"{OWNER}@{HOST}:{database.port}/{database.database}",
    }
    secrets = {"broker": PASSWORD, "reg": "not asked for", "db": database.password}
    said = tmp_path / "said"
    said.mkdir()
    with CommandServer(folder, own_folders | keyring, said) as commands:
        yield Reader(folder, own_folders | keyring, stand_ins, secrets, commands)
    for path in tmp_path.rglob(PROCESS):
        end_process_of(path.parent)


def test_every_command_of_the_page_about_production_does_its_part_on_real_servers(
    reader: Reader, shop: tuple[Shop, PostgresServer], kafka: KafkaBroker, apicurio: ApicurioRegistry
) -> None:
    business, _ = shop
    commands = list(documents.page_commands(PAGE, "text"))
    assert {words[1] for words in commands} >= {
        "profile",
        "import",
        "watch",
        "run",
        "publish",
        "lane",
        "load",
    }
    with ExitStack() as stack:
        going: dict[str, Going] = {}
        for words in commands:
            line = " ".join(words)
            if line == RELEASE:
                business.deploy(ADDED_COLUMN)
                register(apicurio, "channel")
                until(lambda: first_records(kafka.servers, ("metl.errors",), 1), "a record that is set aside")
                until(lambda: going["watch"].has_said(f"added    {SERVICE}.{ADDED_COLUMN.table}"), "a version")
            name = next((name for name in LONG if name in words), "")
            if name:
                going[name] = reader.start(words, stack)
            if name == STACK:
                going[name].stop()  # beside all that follows it would only take processors from it
            elif not name and line != ELSEWHERE:
                reader.follow(words)
        assert ELSEWHERE.split() in commands
        going["watch"].stop()
        assert going.keys() == LONG.keys()

        business.close()
        until(
            lambda: (
                business.counts()
                == {name: count_live_rows(kafka.servers, kafka.address(f"metl.{name}")) for name in TABLES.values()}
            ),
            "the last row of the shop",
        )
