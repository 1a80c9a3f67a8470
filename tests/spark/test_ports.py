"""What another user of this computer gets from the ports of a session, without the secrets that it has."""

from __future__ import annotations

import ipaddress
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.runs.target import Target, parse_target
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.errors import RunError
from metl_gui.stack.guard import children_of
from metl_gui.stack.spark import SparkConnect, SparkMaster
from metl_gui.workbench.profiles.connection_test import test_profile
from metl_gui.workbench.profiles.saved_profiles import Profile, save_profile
from tests.helpers.killing import WORKER, module
from tests.helpers.run_specs import run_spec
from tests.spark.conftest import order_record

_ANSWER_SECONDS = 60.0
_SILENCE_SECONDS = 3.0
_LOOKS, _PAUSE_SECONDS = 10, 0.05
_BLOCKS = tuple(f"broadcast_{number}_piece0" for number in range(12))
_RPC, _RPC_ANSWER, _RPC_FAILURE, _CHUNK, _CHUNK_ANSWER, _FILE, _FILE_FAILURE = 3, 4, 5, 0, 1, 6, 8
"""Frames of Spark's transport, as its ``Message.Type`` numbers them."""

_CALL = b"c\nz:java.lang.System\ngetProperty\nsuser.home\ne\n"
"""A call of py4j into Java."""

_BACK = b"c\np0\n__repr__\ne\n"
"""A call of py4j back into Python."""


@dataclass(frozen=True)
class Port:
    """One port that a process of a session listens at."""

    address: str
    number: int
    program: str

    def ask(self, said: bytes, is_whole: Callable[[bytes], bool] = lambda _heard: False) -> bytes:
        """Say something and return what is heard until that is whole or nobody says more."""
        heard = b""
        with socket.create_connection((self.address, self.number), _ANSWER_SECONDS) as connection:
            connection.sendall(said)
            while not is_whole(heard):
                try:
                    more = connection.recv(1 << 16)
                except ConnectionResetError:
                    more = b""
                if not more:
                    break
                heard += more
        return heard


_DAEMONS = WORKER, module("pyspark.daemon")
"""What forks the workers that map."""


def _listening(process_id: int) -> Iterator[Port]:
    """List what a process and those below it listen at."""
    owners: dict[str, int] = {}
    for owner in (process_id, *children_of(process_id)):
        with suppress(FileNotFoundError):  # a process may end meanwhile
            for link in Path(f"/proc/{owner}/fd").iterdir():
                with suppress(FileNotFoundError):  # and a file be closed, which hides none of the others
                    target = str(link.readlink())
                    if target.startswith("socket:["):
                        owners.setdefault(target[len("socket:[") : -1], owner)
    for inode, (words, number) in _listeners().items():
        if inode in owners:
            raw = b"".join(bytes.fromhex(words[at : at + 8])[::-1] for at in range(0, len(words), 8))
            address = ipaddress.ip_address(raw)
            shown = str(getattr(address, "ipv4_mapped", None) or address)
            command = Path(f"/proc/{owners[inode]}/cmdline").read_bytes()
            yield Port(shown, int(number, 16), _program(command))


def _listeners() -> dict[str, tuple[str, str]]:
    """Return address and port of all that listens, by its inode.

    The system writes its tables a page at a time, and leaves lines out where sockets come and go meanwhile.
    """
    found: dict[str, tuple[str, str]] = {}
    for table in ("tcp", "tcp6") * _LOOKS:
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            local, state, inode = (line.split()[column] for column in (1, 3, 9))
            if state == "0A":
                words, _, number = local.partition(":")
                found[inode] = words, number
        time.sleep(_PAUSE_SECONDS)
    return found


def _program(command: bytes) -> str:
    if b"/java\0" in command:
        return "java"
    return "workers" if any(daemon.encode() in command for daemon in _DAEMONS) else "host"


@pytest.fixture(scope="module")
def ports(tmp_path_factory: pytest.TempPathFactory, order_plan: bytes) -> Iterator[list[Port]]:
    """The ports of a session on this computer that has run once in batches, as production does."""
    folder = tmp_path_factory.mktemp("ports")
    source = folder / "source"
    source.mkdir()
    (source / "x.jsonl").write_bytes(b"".join(order_record(number) + b"\n" for number in range(100)))
    spec = run_spec(
        run_id=new_run_id(),
        plan=order_plan,
        source=str(source),
        sink=str(folder / "sink"),
        folder=str(folder / "run"),
        errors=str(folder / "errors"),
        checkpoint=str(folder / "checkpoint"),
    )
    with SparkProcess("local[2]") as process:
        process.wait_until_ready()
        assert process.process_id is not None
        assert process.run(spec).read == 100
        yield list(_listening(process.process_id))


def _text(text: str) -> bytes:
    return struct.pack(">i", len(text)) + text.encode()


def _frame(kind: int, body: bytes) -> bytes:
    return struct.pack(">qb", 9 + len(body), kind) + body


def _is_frame(heard: bytes) -> bool:
    return len(heard) >= 8 and len(heard) >= struct.unpack(">q", heard[:8])[0]


def _open_block(name: str) -> bytes:
    """Ask a block manager to open one block."""
    message = b"\0" + _text("stranger") + _text("0") + struct.pack(">i", 1) + _text(name)
    return _frame(_RPC, struct.pack(">qi", 1, len(message)) + message)


def _fetched(port: Port, name: str) -> bytes:
    """Return the bytes of a block, or nothing, as one who has the address alone."""
    opened = port.ask(_open_block(name), _is_frame)
    if opened[8] != _RPC_ANSWER:
        return b""
    stream = opened[-12:-4]
    return port.ask(_frame(_CHUNK, stream + struct.pack(">i", 0)), _is_frame)


def test_every_port_of_a_session_here_is_of_this_computer_alone(ports: list[Port]) -> None:
    counts = Counter(port.program for port in ports)
    assert counts.keys() == {"host", "java", "workers"}
    # Of the host, where it is told counts; of Java, where Python calls it, the RPC of the driver, its block manager.
    assert (counts["host"], counts["java"]) == (1, 3)
    assert [port for port in ports if not ipaddress.ip_address(port.address).is_loopback] == []


def test_a_stranger_fetches_no_block_and_no_file_and_has_nothing_deserialised(ports: list[Port]) -> None:
    spark = [port for port in ports if port.program == "java" and not port.ask(_CALL).startswith(b"!")]
    assert len(spark) == 2  # the RPC of the driver, and its block manager
    for port in spark:
        assert [name for name in _BLOCKS if _fetched(port, name)] == []
        for kind, failure, said in (
            (_RPC, _RPC_FAILURE, _open_block(_BLOCKS[0])),
            (_FILE, _FILE_FAILURE, _frame(_FILE, _text("/files/plan.json"))),
        ):
            heard = port.ask(said, _is_frame)
            assert heard[8] == failure, kind
            assert b"AuthRpcHandler" in heard  # it goes no farther than to who asks for the secret


def test_a_stranger_without_the_token_calls_nothing_of_java_and_nothing_of_python(ports: list[Port]) -> None:
    java = [heard for port in ports if port.program == "java" if (heard := port.ask(_CALL))]
    assert java == [b"!xsAuthentication error: unexpected command.\n"]
    # The port of the host takes counts, after a token, from one caller, who is Java; nothing of Python is called there.
    (host,) = [port for port in ports if port.program == "host"]
    with socket.create_connection((host.address, host.number)) as connection:
        connection.sendall(_BACK * 10)
        connection.settimeout(_SILENCE_SECONDS)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_a_stranger_without_the_secret_has_no_worker_of_python(ports: list[Port]) -> None:
    for port in (port for port in ports if port.program == "workers"):
        assert port.ask(_text("stranger")).endswith(_text("err"))


def test_a_stranger_gets_nothing_of_the_cluster_that_we_start(spark_master: SparkMaster) -> None:
    for component in (spark_master, *spark_master.workers):
        assert component.process is not None
        ports = list(_listening(component.process.pid))
        assert [port for port in ports if not ipaddress.ip_address(port.address).is_loopback] == []
        # The pages are for everybody to read; what takes jobs over HTTP would be a third port.
        pages = [port for port in ports if port.ask(b"GET / HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200")]
        assert (len(ports), len(pages)) == (2, 1)
        (rpc,) = set(ports) - set(pages)
        assert rpc.number == component.port
        heard = rpc.ask(_open_block(_BLOCKS[0]), _is_frame)
        assert heard[8] == _RPC_FAILURE
        assert b"AuthRpcHandler" in heard


def test_a_stranger_has_no_session_on_the_connect_server_that_we_start(spark_connect: SparkConnect) -> None:
    assert spark_connect.process is not None
    ports = list(_listening(spark_connect.process.pid))
    assert [port for port in ports if not ipaddress.ip_address(port.address).is_loopback] == []
    assert len(ports) >= 3
    for port in ports:
        if port.program == "java" and port.number != spark_connect.port:
            assert b"AuthRpcHandler" in port.ask(_open_block(_BLOCKS[0]), _is_frame)
    stranger = parse_target(spark_connect.address)
    with SparkProcess(stranger) as process, pytest.raises(RunError, match="does not take the session"):
        process.wait_until_ready()


def _told(target: Target, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """Test a profile and return what is said of strangers."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    for number, (_, value) in enumerate(target.secrets):
        monkeypatch.setenv(f"SECRET_{number}", value)
    secrets = tuple((name, f"env:SECRET_{number}") for number, (name, _) in enumerate(target.secrets))
    save_profile(Profile(name="it", target=target.master, settings=target.settings, secrets=secrets))
    check = test_profile("it")
    assert check.is_ok, check
    return next(step.text for step in check.steps if step.title == "Protection")


def test_the_test_of_a_profile_says_whether_a_cluster_and_a_connect_server_are_open(
    spark_master: SparkMaster,
    spark_connect: SparkConnect,
    bare_python: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    settings = (("spark.pyspark.python", str(bare_python)), ("spark.executor.memory", "512m"))
    on_cluster = msgspec.structs.replace(spark_master.target, settings=(*spark_master.target.settings, *settings))
    closed = "and nobody on the way reads along."
    assert _told(on_cluster, monkeypatch, tmp_path) == f"Its ports ask for a secret, {closed}"
    assert _told(spark_connect.target, monkeypatch, tmp_path) == f"It shows the server a token, {closed}"


def test_a_profile_that_opens_the_ports_on_this_computer_is_obeyed_and_told_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = _told(Target(master="local[1]", settings=(("spark.authenticate", "false"),)), monkeypatch, tmp_path)
    assert told.startswith("Not authenticated: ")
    assert "Not encrypted: " in told


_HOLDING = """
import sys
from pathlib import Path

from metl_gui.engine.sessions.local import SparkRuntime

runtime = SparkRuntime("local[1]", Path(sys.argv[1]))
context = runtime.spark.sparkContext
secret = context._jvm.org.apache.spark.SparkEnv.get().securityManager().getSecretKey()
print(secret, context._gateway.gateway_parameters.auth_token, flush=True)
print(sorted(context.getConf().getAll()), flush=True)
sys.stdin.read()
runtime.end()
"""


def test_the_secrets_of_a_session_here_stand_in_no_command_line_and_in_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "session"
    command = [sys.executable, "-c", _HOLDING, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path) as process:
        assert process.stdout is not None
        secrets = process.stdout.readline().split()
        settings = process.stdout.readline()
        assert [len(secret) for secret in secrets] == [64, 64]
        below = (process.pid, *children_of(process.pid))
        told = [Path(f"/proc/{process_id}/cmdline").read_bytes() for process_id in below]
        assert any(b"spark.authenticate=true" in line for line in told)
        told += [settings, *(path.read_bytes() for path in folder.rglob("*") if path.is_file())]
        assert [text for text in told if any(secret in text for secret in secrets)] == []
        process.communicate()
    assert process.returncode == 0
