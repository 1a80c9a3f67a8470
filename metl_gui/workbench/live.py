"""Real servers on this computer, for the live demo: the only module that imports ``stack``.

It has what the demo and the live tests need here besides what ``doctor`` looks for anyway; the servers that the shop
runs on (PostgreSQL, Kafka, and Connect whose Debezium writes the changes of its tables into topics); and the shop
itself, its tables, what its customers do in them and the releases of its services, as SQL in ``sample_projects/shop``.

A registry is started by the tests and by ``tests.live_stack`` only, so what is missing for it keeps nobody from the
live demo; neither do jars that Maven can still fetch. Slow to import: it is imported where it is needed.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.errors import SetupError
from metl_gui.own_files import cache_folder
from metl_gui.stack import component, guard
from metl_gui.stack.apicurio import APICURIO_JARS, JAVA_PACKAGE, OLDEST_JAVA, find_newer_java
from metl_gui.stack.component import keep
from metl_gui.stack.connect import CONVERTER_JARS, Connector, ConnectWorker, with_schemas
from metl_gui.stack.jars import Artifact, JarSet, fetch, find_maven
from metl_gui.stack.kafka import KAFKA_JARS, KafkaBroker
from metl_gui.stack.postgres import PACKAGE, PostgresServer, SqlSession, find_programs
from metl_gui.stack.server_archives import has_archives, make_archives
from metl_gui.values import Value
from metl_gui.workbench.doctor import Check, Examination, check_java, examine, mend, with_command

Capture: TypeAlias = Connector
"""What captures the changes of the shop's tables."""

JAR_SETS = (KAFKA_JARS, APICURIO_JARS, CONVERTER_JARS)
JDBC_JARS = JarSet(
    "postgresql-jdbc", "PostgreSQL's JDBC driver", (Artifact("org.postgresql", "postgresql", "42.7.8"),), megabytes=2
)
JDK = f"{JAVA_PACKAGE}>=21,<22"
MAVEN_PACKAGE = "maven"
FREE_MEGABYTES = 1500
"""What the logs of an evening take, with a good margin."""
MEMORY_MEGABYTES = 3000
_MEMORY = Path("/proc/meminfo")


def examine_live() -> Examination:
    """Check for everything the program needs, and what its live demo needs."""
    return Examination((*examine().checks, *live_checks()))


def missing_for_demo() -> tuple[Check, ...]:
    """Return what keeps the live demo from starting; what only its window needs is not among it."""
    return tuple(check for check in (check_java(), *live_checks()) if check.is_needed and not check.ok)


def live_checks() -> tuple[Check, ...]:
    """Search for what the real servers need."""
    checks = (
        check_system(sys.platform),
        check_postgres(),
        check_maven(),
        *(check_jars(jars, is_needed=jars is KAFKA_JARS) for jars in JAR_SETS),
        check_server_archives(),
        check_newer_java(),
        check_space(),
        check_memory(_MEMORY),
    )
    return tuple(with_command(check) for check in checks)


def check_system(platform: str) -> Check:
    """Check that it is Linux: the servers are watched over and ended by what only its ``/proc`` tells."""
    if platform == "linux":
        return Check("System for the live demo", True, "Linux")
    hint = "The live demo starts servers and ends them by what Linux tells of processes. Run it there."
    return Check("System for the live demo", False, platform, hint)


def check_postgres() -> Check:
    """Check for PostgreSQL's server programs."""
    try:
        return Check("PostgreSQL", True, str(find_programs()))
    except SetupError:
        hint = "The demo's tables live in it. Install its server, with initdb and postgres on PATH."
        return Check("PostgreSQL", False, "no server programs", hint, packages=(PACKAGE,))


def check_maven() -> Check:
    """Check for Maven; who has all jars does without it."""
    if all(jars.is_fetched for jars in JAR_SETS):
        return Check("Maven", True, "not needed any more, all jars are here")
    try:
        return Check("Maven", True, find_maven())
    except SetupError:
        hint = "It fetches the jars of Kafka and Debezium, once. Install it, with mvn on PATH."
        found = "not on PATH"
        return Check("Maven", False, found, hint, packages=(MAVEN_PACKAGE,), is_needed=not KAFKA_JARS.is_fetched)


def check_jars(jars: JarSet, *, is_needed: bool) -> Check:
    """Return whether jars are in the cache; those that are not are fetched when they are first needed."""
    name = f"Jars of {jars.title}"
    if jars.is_fetched:
        return Check(name, True, str(jars.folder))
    when = "by the live demo when it first starts" if is_needed else "by the tests, and by whoever starts a registry"
    hint = f"About {jars.megabytes} MB are fetched by Maven {when}. To do it now:"
    return Check(name, False, "not fetched yet", hint, "metl doctor --live --fix", is_needed=False)


def check_server_archives() -> Check:
    """Return whether the Java classes of Kafka and Connect are archived; they start without too, in twice the time."""
    name = "Archives of Kafka's Java classes"
    try:
        is_made = has_archives()
    except SetupError:
        is_made = False
    return Check(name, True, "made" if is_made else "not made yet, `metl doctor --live --fix` does it")


def check_newer_java() -> Check:
    """Check for the Java of the registry."""
    name = f"Java {OLDEST_JAVA} for a registry"
    try:
        java = find_newer_java()
    except SetupError as error:
        hint = "Only the tests start a registry; the live demo does without."
        return Check(name, False, error.text, hint, f"{sys.executable} -m pip install '{JDK}'", is_needed=False)
    return Check(name, True, f"{java.version} in {java.path}")


def check_space(megabytes: int = FREE_MEGABYTES) -> Check:
    """Check that there is room for the servers' files and for the jars.

    Args:
        megabytes: how much the servers take.
    """
    missing = sum(jars.megabytes for jars in JAR_SETS if not jars.is_fetched)
    wanted: dict[Path, int] = {}
    for place, amount in ((Path(tempfile.gettempdir()), megabytes), (_there(cache_folder()), 2 * missing)):
        wanted[place] = wanted.get(place, 0) + amount
    free = {place: shutil.disk_usage(place).free >> 20 for place in wanted}
    short = [f"{free[place]:,} MB in {place}" for place in wanted if free[place] < wanted[place]]
    if not short:
        return Check("Free disk", True, f"{min(free.values()):,} MB")
    hint = f"The servers need about {megabytes:,} MB. Free some there, or name other places in TMPDIR, XDG_CACHE_HOME."
    return Check("Free disk", False, f"only {' and '.join(short)}", hint)


def check_memory(source: Path, megabytes: int = MEMORY_MEGABYTES) -> Check:
    """Check that there is memory for the servers and for Spark.

    Args:
        source: where Linux says how much is free.
        megabytes: how much they take together.
    """
    try:
        lines = dict(line.split(":", 1) for line in source.read_text().splitlines() if ":" in line)
        free = int(lines["MemAvailable"].split()[0]) >> 10
    except (OSError, KeyError, ValueError):
        return Check("Free memory", True, "not told by this system")
    if free >= megabytes:
        return Check("Free memory", True, f"{free:,} MB")
    hint = f"PostgreSQL, Kafka, Connect and Spark take about {megabytes:,} MB together. End something else."
    return Check("Free memory", False, f"only {free:,} MB", hint)


def mend_live(examination: Examination, tell: Callable[[str], None], watch: Watch = UNWATCHED) -> Examination:
    """Install and fetch what is missing as far as that is allowed here, and look again.

    Args:
        examination: what was found.
        tell: told each command before it runs, what it says, and what could not be done.
        watch: told the progress of fetching; may cancel.
    """
    if examination.packages:
        examination = mend(examination, tell, examine_live)
    if not check_newer_java().ok and sys.prefix != sys.base_prefix:
        _install_java(tell)
    for jars in JAR_SETS:
        if not jars.is_fetched:
            try:
                fetch(jars, watch)
            except SetupError as error:
                tell(str(error))
    return examine_live()


def archive_server_classes(tell: Callable[[str], None], watch: Watch = UNWATCHED) -> bool:
    """Make the archives of the Java classes of Kafka and Connect now, so that they answer sooner.

    Args:
        tell: told before it begins, as it takes some twenty seconds, and why it could not be done.
        watch: may cancel.

    Returns:
        Whether they were made; not when they are there already or cannot be.

    Raises:
        RunCancelled: the watch was cancelled.
    """
    if not KAFKA_JARS.is_fetched or has_archives():
        return False
    tell("archiving the Java classes of Kafka and Connect, once for this computer")
    try:
        make_archives(watch)
    except (SetupError, OSError) as error:
        tell(str(error))
        return False
    return True


def _install_java(tell: Callable[[str], None]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", JDK]
    tell(" ".join(command))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tell(done.stderr.strip()[-500:])
    importlib.invalidate_caches()


def _there(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(place for place in (folder, *folder.parents) if place.exists())


SERVICE = "shop"
"""What its topics begin with."""
TABLES = {
    "crm.customer": "customer",
    "sales.orders": "order",
    "sales.order_line": "order_line",
    "billing.payment": "payment",
}
"""Its tables, and the entities that their rows become."""
_TICK_SECONDS = 0.25
_PATIENCE = 40
_LAST_SECONDS = 60.0
"""How long the last thing that happens may take: a server that hangs is not waited for."""

_STEPS = 6


class Release(Value):
    """A new release of one of its services.

    Args:
        service: whose.
        table: the table that it alters.
        script: the name of its SQL.
        says: what it changes, for people.
    """

    service: str
    table: str
    script: str
    says: str


ADDED_COLUMN = Release("sales", "sales.orders", "added-column", "orders have a new column, channel")
RENAMED_COLUMN = Release("crm", "crm.customer", "renamed-column", "customers have email_address where email was")


class Shop:
    """Tables in which something happens all the time.

    Args:
        postgres: the server they are in, already started.
        folder: where its SQL lies.
        steps: how many things customers and staff do four times a second.
    """

    def __init__(self, postgres: PostgresServer, folder: Path, steps: int = _STEPS) -> None:
        self._postgres = postgres
        self._folder = folder
        self._steps = steps
        self._ending = threading.Event()
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None
        self.error: SetupError | None = None
        """Why nothing happens any more."""

    def make(self) -> None:
        """Make the tables with some rows in them.

        Raises:
            SetupError: the server refuses them.
        """
        self._run("tables")

    def open(self) -> None:
        """Let things happen from now on."""
        self._thread = threading.Thread(target=self._do_business, name="shop", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nothing happen any more."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join(_LAST_SECONDS)

    def deploy(self, release: Release) -> None:
        """Deploy a release while things happen.

        Raises:
            SetupError: the server refuses it.
        """
        with self._turn:
            self._run(release.script)

    def counts(self) -> dict[str, int]:
        """Count the rows of each table now, by the entity that they become."""
        return {
            entity: self._postgres.number(f"SELECT count(*) FROM {table};")  # noqa: S608 - tables of ours
            for table, entity in TABLES.items()
        }

    def _run(self, script: str) -> None:
        self._postgres.execute((self._folder / "sql" / f"{script}.sql").read_text(encoding="utf-8"))

    def _do_business(self) -> None:
        failures = 0
        session = SqlSession(self._postgres)
        while not self._ending.wait(_TICK_SECONDS):
            try:
                with self._turn:
                    session.execute(f"CALL business({self._steps});")
                failures = 0
            except SetupError as error:  # the server may just be restarted by somebody who tries things
                failures += 1
                if failures >= _PATIENCE:
                    self.error = error
                    break
        session.close()


class Servers(Value):
    """Servers that run.

    Args:
        postgres: has the tables.
        kafka: has the topics.
        connect: runs Debezium.
    """

    postgres: PostgresServer
    kafka: KafkaBroker
    connect: ConnectWorker

    @property
    def feeds(self) -> dict[str, str]:
        """The topics of the tables, and the entity that each is for."""
        return {f"{SERVICE}.{table}": entity for table, entity in TABLES.items()}

    @property
    def source(self) -> str:
        """Their address, as a run takes it."""
        return self.kafka.address(",".join(self.feeds))

    @property
    def sink(self) -> str:
        """Where a run writes the messages of each entity."""
        return self.kafka.address("canonical.{entity}")

    @property
    def errors(self) -> str:
        """Where a run writes what it sets aside."""
        return self.kafka.address("canonical-errors")

    def watch_tables(self, watch: Watch) -> Connector:
        """Have Debezium write what is in the tables, and then each change.

        Raises:
            SetupError: it does not start.
        """
        numbers = {f"{part}.converter.decimal.format": "NUMERIC" for part in ("key", "value")}
        return self.connect.watch_tables(
            self.postgres, list(TABLES), SERVICE, settings=with_schemas() | numbers, watch=watch
        )


def start_servers(stack: ExitStack, watch: Watch) -> Servers:
    """Start all of them; they end with the stack.

    Raises:
        SetupError: something is missing on this computer, or one of them does not start.
        RunCancelled: the watch was cancelled.
    """
    fetch(KAFKA_JARS, watch)
    postgres = keep(stack, PostgresServer(), watch)
    kafka = keep(stack, KafkaBroker(), watch)
    return Servers(postgres, kafka, keep(stack, ConnectWorker(kafka), watch))


def fetch_jdbc_driver(watch: Watch) -> Path:
    """Return PostgreSQL's JDBC driver for Spark, fetched once into the user's cache."""
    return next(fetch(JDBC_JARS, watch).glob("postgresql-*.jar"))


class GuardedProcess(Value):
    """A process of the demo beside its servers, which another one ends when this one is gone.

    Args:
        process_id: its number.
        mark: what it and all it starts carry in their environment.
        polite: the signal at which it puts its things in order and ends; 0 for none.
    """

    process_id: int
    mark: str
    polite: int = 0

    @staticmethod
    def environment(mark: str) -> dict[str, str]:
        """Return what a process must be started with to carry a mark."""
        return {guard.MARK: mark}

    def begin(self) -> None:
        """Have it ended when this process ends without having done so."""
        component.guard_process(self.process_id, self.mark, self.polite)

    def end(self, *, is_alive: bool) -> None:
        """End it with all it started; what it left may go on without it."""
        guard.end(self.process_id if is_alive else 0, self.mark, self.polite)

    def release(self) -> None:
        """Say that it has ended."""
        component.release_process(self.process_id)
