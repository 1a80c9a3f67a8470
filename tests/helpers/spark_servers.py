"""Real Spark servers for tests: a Connect server and a standalone cluster, with a Python that lacks our package."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sysconfig
import time
import venv
from collections.abc import Collection, Iterator
from pathlib import Path

import pyspark

from metl_gui.engine.java import find_java
from metl_gui.engine.kernel.compiled import build

HOME = Path(pyspark.__file__).parent
_OURS = ("metl_gui", "_editable_impl_metl", "__editable__")
_START_SECONDS = 90
_QUICK = "-XX:TieredStopAtLevel=1"


def bare_python(folder: Path, without: Collection[str] = ()) -> Path:
    """Make a Python that has what ours has, but our package and whatever else it shall lack."""
    venv.create(folder, symlinks=True, with_pip=False)
    packages = next(folder.glob("lib/python3*/site-packages"))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        name = entry.name.partition("-")[0].partition(".")[0]
        if entry.suffix != ".pth" and name not in without and not entry.name.startswith((*_OURS, "__pycache__")):
            (packages / entry.name).symlink_to(entry)
    return folder / "bin" / "python"


def children_of(process_id: int) -> list[int]:
    """Every process below one, read from /proc."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if entry.name.isdigit() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == process_id:
                found += [int(entry.name), *children_of(int(entry.name))]
    return found


def free_port() -> int:
    """Find a port that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class SparkServers:
    """Processes of Spark that a test starts, ended by their ids.

    Args:
        folder: everything they write goes here.
        python: what their Python workers run.
    """

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        self.python = python
        self.address = ""
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        folder.mkdir(parents=True, exist_ok=True)

    def start_connect(self, port: int | None = None) -> str:
        """Start a Connect server and return its address."""
        number = port or free_port()
        settings = {
            "spark.connect.grpc.binding.port": number,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.sql.warehouse.dir": self.folder / "warehouse",
        }
        options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
        self._start(
            "connect",
            "org.apache.spark.deploy.SparkSubmit",
            *("--master", "local[2]", *options),
            *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
            memory="600m",
        )
        self._await("connect", number)
        return f"sc://127.0.0.1:{number}"

    def start_standalone(self, workers: int = 2) -> str:
        """Start a master with workers of one core each and return its address."""
        port, package = free_port(), "org.apache.spark.deploy"
        place = ("--host", "127.0.0.1", "--webui-port", "0")
        self._start("master", f"{package}.master.Master", *place, "--port", str(port), memory="256m")
        self._await("master", port)
        address = f"spark://127.0.0.1:{port}"
        for number in range(workers):
            size = ("--cores", "1", "--memory", "1g")
            self._start(f"worker-{number}", f"{package}.worker.Worker", *place, *size, address, memory="256m")
        return address

    def executors(self) -> list[int]:
        """Return the process ids of the executors that run for the workers now."""
        workers = (process.pid for name, process in self.processes.items() if name.startswith("worker"))
        below = (child for worker in workers for child in children_of(worker))
        return [child for child in below if _is_executor(child)]

    def kill(self, name: str) -> None:
        """End one of them at once, with all it started."""
        process = self.processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        """End all of them, and what their Python workers started."""
        for name in list(self.processes):
            self.kill(name)
        for left in self._workers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(left, signal.SIGKILL)

    def _workers(self) -> Iterator[int]:
        """Yield the processes that write into our folder: Python workers have process groups of their own."""
        mark = f"TMPDIR={self.folder / 'tmp'}".encode()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)

    def _start(self, name: str, *command: str, memory: str) -> None:
        known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        (self.folder / "tmp").mkdir(exist_ok=True)
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [HOME / "bin" / "spark-class", *command],
                env=known
                | {
                    "JAVA_HOME": str(find_java().path),
                    "SPARK_HOME": str(HOME),
                    "PYSPARK_PYTHON": str(self.python),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_LOCAL_DIRS": str(self.folder / "local"),
                    "SPARK_WORKER_DIR": str(self.folder / "work"),
                    "SPARK_DAEMON_MEMORY": memory,
                    "SPARK_DAEMON_JAVA_OPTS": _QUICK,
                    "TMPDIR": str(self.folder / "tmp"),
                    # Machine code is made once for all tests, not by the workers of each of them.
                    "METL_KERNEL_CACHE": str(_kernel_cache()),
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )

    def _await(self, name: str, port: int) -> None:
        process, end = self.processes[name], time.monotonic() + _START_SECONDS
        while time.monotonic() < end and process.poll() is None:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            time.sleep(0.05)
        raise AssertionError((self.folder / f"{name}.log").read_text()[-2000:])


def _kernel_cache() -> Path:
    made = build.folder()
    return made.parent if made is not None else Path(os.devnull)


def _is_executor(process_id: int) -> bool:
    try:
        return b"CoarseGrainedExecutorBackend" in Path(f"/proc/{process_id}/cmdline").read_bytes()
    except OSError:
        return False


@contextlib.contextmanager
def spark_servers(folder: Path, python: Path) -> Iterator[SparkServers]:
    """Give servers that are ended with the ``with`` block."""
    servers = SparkServers(folder, python)
    try:
        yield servers
    finally:
        servers.stop()
