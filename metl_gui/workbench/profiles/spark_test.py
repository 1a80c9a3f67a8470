"""Try Spark: ten records the whole way, read, mapped and counted."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from metl_gui.core.runs.events import EngineEvent, Protection, SessionReady, WorkerFacts
from metl_gui.core.runs.report import RunReport
from metl_gui.core.runs.run_spec import NOOP, MappingSpec, RunPolicy, RunSpec, SinkSpec, SourceSpec
from metl_gui.core.runs.target import Target, TargetKind
from metl_gui.engine.execution.client import SparkProcess
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.runs.run_folder import new_run_id
from metl_gui.engine.spark.protection import SECRET
from metl_gui.engine.spark.target_check import check_target
from metl_gui.errors import RunError
from metl_gui.own_files import cache_folder, make_folder
from metl_gui.workbench.profiles.connection_test import ConnectionTest, ConnectionTestResult
from metl_gui.workbench.profiles.saved_profiles import Profile, find_target

_LOOK_SECONDS = 0.05
_SESSION_SECONDS = 180.0
RECORDS = 10

_CLOSING = "spark.authenticate and spark.network.crypto.enabled"
_AT_THE_PORTS = (
    "whoever reaches a port of the driver or of a worker reads what tasks carry, secrets of Kafka too, and has "
    "code of his own run"
)
_AT_THE_SERVER = "whoever reaches the server runs there what he likes"
_ASKING_CLIENTS = (
    "Start the server with a token in SPARK_CONNECT_AUTHENTICATE_TOKEN, or behind a proxy that asks for one, and give "
    "it to the profile (--secret token)."
)
_IN_TLS = "Put TLS before the server and end the address with /;use_ssl=true."


class SparkConnectionTest(ConnectionTest):
    """Tries a profile of Spark."""

    ready: SessionReady | None = None

    def result(self, hint: str) -> ConnectionTestResult:
        """Tell the version and the workers too."""
        ready = self.ready
        if ready is None:
            return super().result(hint)
        hosts = len({worker.host for worker in ready.workers}) or 1
        return replace(super().result(hint), spark_version=ready.spark_version, workers=hosts)

    def attempt(self) -> None:
        """Reach it, start a session, look at its workers, and map ten records on it."""
        self.begin("Address")
        target = find_target(f"@{self.profile.name}")
        check_target(target)
        self.end(_address_text(target))
        self.begin("Session")
        with _scratch(self.profile) as folder, SparkProcess(target, on_event=self._hear) as process:
            with self._stopping(process):
                process.wait_until_ready(_SESSION_SECONDS)
            ready = self._ready_one()
            self.end(f"Spark {ready.spark_version} takes runs.")
            self.begin("Protection")
            self.end(protection_text(target, ready.protection))
            self.begin("Workers")
            self.end(_workers_text(target, ready.workers))
            self.begin("Ten records")
            self.end(_told(self._run(process, folder)))

    def _ready_one(self) -> SessionReady:
        if self.ready is None:
            raise RunError("The session did not say that it is ready.", hint="Try again.")
        return self.ready

    def _hear(self, event: EngineEvent) -> None:
        if isinstance(event, SessionReady):
            self.ready = event

    def _run(self, process: SparkProcess, folder: Path) -> RunReport:
        source = folder / "records.jsonl"
        source.write_bytes(b"".join(_record(number) for number in range(RECORDS)))
        spec = RunSpec(
            run_id=new_run_id(),
            source=SourceSpec(address=str(source)),
            sink=SinkSpec(address=NOOP, errors=str(folder / "errors")),
            mapping=MappingSpec(plan=plans.encode(_plan())),
            policy=RunPolicy(folder=str(folder / "run"), samples=0),
        )
        with self._stopping(process, of_run=True):
            report = process.run(spec)
        if report.mapped != RECORDS:
            raise RunError(
                "The records were not mapped as they are here.",
                f"{report.mapped} of {RECORDS} were.",
                "Report this with the versions above.",
            )
        return report

    @contextmanager
    def _stopping(self, process: SparkProcess, *, of_run: bool = False) -> Iterator[None]:
        """Hand a person's wish to stop on, also while nothing is heard."""
        is_over = threading.Event()

        def look() -> None:
            while not is_over.wait(_LOOK_SECONDS):
                if self.watch.is_cancelled:
                    if of_run:
                        process.cancel()
                    else:
                        process.stop()

        looker = threading.Thread(target=look, name="profile-test", daemon=True)
        looker.start()
        try:
            yield
        finally:
            is_over.set()
            looker.join()


@contextmanager
def _scratch(profile: Profile) -> Iterator[Path]:
    """Make a folder that workers see: in the one that the profile names, else in the user's cache."""
    place = Path(profile.folder).expanduser() if profile.folder else cache_folder() / "profile-tests"
    try:
        if profile.folder:
            place.mkdir(parents=True, exist_ok=True)
        else:
            make_folder(place)
        folder = Path(tempfile.mkdtemp(prefix="metl-test-", dir=place))
    except OSError as error:
        raise RunError(
            "The folder of the profile cannot be written.",
            f"{place}: {error.strerror}.",
            "Name a folder in the profile that this computer and all workers share.",
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _address_text(target: Target) -> str:
    if target.is_local:
        return f"{target.master} is this computer."
    return "Somebody answers there." if target.places else f"{target.master} is for Spark to find."


def protection_text(target: Target, protection: Protection) -> str:
    """Describe what is open to strangers where a target leads, and the way out of it."""
    is_connect = target.kind is TargetKind.CONNECT
    if protection.is_authenticated and protection.is_encrypted:
        shown = "It shows the server a token" if is_connect else "Its ports ask for a secret"
        return f"{shown}, and nobody on the way reads along."
    said = []
    if not protection.is_authenticated:
        said.append(f"Not authenticated: {_AT_THE_SERVER if is_connect else _AT_THE_PORTS}.")
    if not protection.is_encrypted:
        said.append("Not encrypted: whoever is on the way reads along.")
    if is_connect:
        ways = ((protection.is_authenticated, _ASKING_CLIENTS), (protection.is_encrypted, _IN_TLS))
        return " ".join([*said, *(way for is_closed, way in ways if not is_closed)])
    return " ".join([*said, _way_out(target)])


def _way_out(target: Target) -> str:
    if target.is_local or target.is_local_cluster:
        return f"Leave {_CLOSING} out of the profile: on this computer they are set by themselves."
    if target.master.startswith(("yarn", "k8s://")):
        return f"Set {_CLOSING} to true in the profile; Spark makes the secret."
    return f"Set {_CLOSING} to true, and one {SECRET}, on the master, on the workers and in the profile (--secret)."


def _workers_text(target: Target, workers: tuple[WorkerFacts, ...]) -> str:
    if target.is_local:
        return "This computer does the work itself."
    hosts = Counter(worker.host for worker in workers)
    one = workers[0]
    packages = ", ".join(f"{name} {version}" for name, version in one.packages.items() if version)
    missing = ", ".join(name for name, version in one.packages.items() if not version)
    count = f"{len(hosts)} computer{'s' if len(hosts) > 1 else ''} ({', '.join(sorted(hosts)[:3])}"
    more = ", ...)" if len(hosts) > 3 else ")"
    lacks = f"; without {missing}" if missing else ""
    return f"{count}{more}, {len(workers)} tasks at once. Python {one.python}, {packages}{lacks}."


def _told(report: RunReport) -> str:
    notes = "".join(f" {problem}" for problem in report.problems)
    return f"{report.read} records read, {report.mapped} mapped.{notes}"


def _record(number: int) -> bytes:
    return (
        b'{"before":null,"after":{"id":%d,"amount":%d.50},"source":{"connector":"postgresql","name":"metl",'
        b'"schema":"test","table":"orders","lsn":%d},"op":"c","ts_ms":1}\n'
    ) % (number, number, number)


def _plan() -> Plan:
    block = BlockPlan("order", "1", (("id", "number"), ("amount", "money.amount")))
    version = VersionPlan("1", "", ("id", "amount"), key=("id",), blocks=(block,), is_inferred=True)
    return Plan(0, "profile-test", (SchemaPlan("metl.test.orders", (version,)),))
