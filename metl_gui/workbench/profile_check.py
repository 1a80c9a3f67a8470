"""Try a profile: ten records the whole way, read, mapped and counted, and what was met on the way told in words."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from metl_gui.engine.client import SparkProcess
from metl_gui.engine.events import EngineEvent, SessionReady
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.report import RunReport
from metl_gui.engine.runs import NOOP, RunSpec, new_run_id
from metl_gui.engine.targets import Target, check_target
from metl_gui.engine.worker_check import WorkerFacts
from metl_gui.errors import RunCancelled, RunError, UserError
from metl_gui.workbench.places import cache_folder
from metl_gui.workbench.profile_kinds import Kind
from metl_gui.workbench.profiles import Profile, find_profile, find_target
from metl_gui.workbench.progress import UNWATCHED, Watch

_LOOK_SECONDS = 0.05
_SESSION_SECONDS = 180.0
RECORDS = 10
_VERDICTS = {Kind.SPARK: ("takes runs.", "takes no runs as it is.")}
_STEPS = 4


@dataclass(frozen=True, slots=True)
class CheckStep:
    """One thing that was tried.

    Args:
        title: what.
        text: what came of it.
        is_ok: whether it will do.
        seconds: how long it took.
    """

    title: str
    text: str
    is_ok: bool = True
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ProfileCheck:
    """What came of trying a profile.

    Args:
        profile: its name.
        target: where it leads.
        steps: what was tried, in order; after one that failed nothing more was.
        hint: what to do about the step that failed; empty when all will do.
        spark_version: of the cluster; empty when it was not reached.
        workers: how many computers do its tasks.
        kind: what the profile leads to.
    """

    profile: str
    target: str
    steps: tuple[CheckStep, ...]
    hint: str = ""
    spark_version: str = ""
    workers: int = 0
    kind: Kind = Kind.SPARK

    @property
    def is_ok(self) -> bool:
        """Whether it can be used."""
        return all(step.is_ok for step in self.steps)

    @property
    def verdict(self) -> str:
        """What came of it, in a sentence."""
        good, bad = _VERDICTS.get(self.kind, ("can be used.", "cannot be used as it is."))
        return f"@{self.profile} {good if self.is_ok else bad}"

    def as_json(self) -> dict[str, object]:
        """Return the document of ``metl profile test``."""
        steps = [
            {"title": step.title, "ok": step.is_ok, "text": step.text, "seconds": step.seconds} for step in self.steps
        ]
        return {"ok": self.is_ok, **asdict(self), "steps": steps}


def test_profile(name: str, watch: Watch = UNWATCHED) -> ProfileCheck:  # noqa: PT028 - not a test of pytest's
    """Run ten records the whole way on a profile's target; nothing of it stays.

    Raises:
        RunError: there is no such profile.
        RunCancelled: somebody stopped it.
    """
    return _Trial(find_profile(name), watch).done()


test_profile.__test__ = False  # type: ignore[attr-defined]  # pytest takes it for a test by its name


class _Trial:
    def __init__(self, profile: Profile, watch: Watch) -> None:
        self.profile = profile
        self.watch = watch
        self.steps: list[CheckStep] = []
        self.ready: SessionReady | None = None

    def done(self) -> ProfileCheck:
        hint = ""
        try:
            self._try()
        except UserError as error:
            if self.watch.is_cancelled:
                raise RunCancelled("The test was stopped.") from error
            hint = error.hint
            text = f"{error.title} {error.text}".strip()
            self.steps.append(CheckStep(self._title, text, False, self._taken))
        ready = self.ready
        return ProfileCheck(
            self.profile.name,
            self.profile.target,
            tuple(self.steps),
            hint,
            ready.spark_version if ready else "",
            len({worker.host for worker in ready.workers}) or 1 if ready else 0,
        )

    def _try(self) -> None:
        self._begin("Address")
        target = find_target(f"@{self.profile.name}")
        check_target(target)
        self._end(_address_text(target))
        self._begin("Session")
        with _scratch(self.profile) as folder, SparkProcess(target, on_event=self._hear) as process:
            with self._stopping(process):
                process.wait_until_ready(_SESSION_SECONDS)
            ready = self._ready_one()
            self._end(f"Spark {ready.spark_version} takes runs.")
            self._begin("Workers")
            self._end(_workers_text(target, ready.workers))
            self._begin("Ten records")
            self._end(_told(self._run(process, folder)))

    def _ready_one(self) -> SessionReady:
        if self.ready is None:
            raise RunError("The session did not say that it is ready.", hint="Try again.")
        return self.ready

    def _hear(self, event: EngineEvent) -> None:
        if isinstance(event, SessionReady):
            self.ready = event

    def _begin(self, title: str) -> None:
        self._title, self._since = title, time.monotonic()
        self.watch.step(f"Testing @{self.profile.name}: {title.lower()}", len(self.steps), _STEPS)

    def _end(self, text: str) -> None:
        self.steps.append(CheckStep(self._title, text, True, self._taken))

    @property
    def _taken(self) -> float:
        return round(time.monotonic() - self._since, 2)

    def _run(self, process: SparkProcess, folder: Path) -> RunReport:
        source = folder / "records.jsonl"
        source.write_bytes(b"".join(_record(number) for number in range(RECORDS)))
        spec = RunSpec(
            run_id=new_run_id(),
            plan=plans.encode(_plan()),
            source=str(source),
            sink=NOOP,
            folder=str(folder / "run"),
            errors=str(folder / "errors"),
            samples=0,
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
        place.mkdir(parents=True, exist_ok=True)
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
