"""What the live demo and the live tests need on this computer, besides what ``doctor`` looks for anyway.

A registry is started by the tests and by ``tests.live_stack`` only, so what is missing for it keeps nobody from the
live demo; neither do jars that Maven can still fetch.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from metl_gui.errors import SetupError
from metl_gui.own_files import cache_folder
from metl_gui.workbench.components.apicurio import APICURIO_JARS, JAVA_PACKAGE, OLDEST_JAVA, find_newer_java
from metl_gui.workbench.components.connect import CONVERTER_JARS
from metl_gui.workbench.components.jars import JarSet, fetch, find_maven
from metl_gui.workbench.components.kafka import KAFKA_JARS
from metl_gui.workbench.components.postgres import PACKAGE, find_programs
from metl_gui.workbench.doctor import Check, Examination, check_java, examine, mend, with_command
from metl_gui.workbench.progress import UNWATCHED, Watch

JAR_SETS = (KAFKA_JARS, APICURIO_JARS, CONVERTER_JARS)
JDK = f"{JAVA_PACKAGE}>=21,<22"
MAVEN_PACKAGE = "maven"
FREE_MEGABYTES = 1500
"""What the logs of an evening take, with a good margin."""
MEMORY_MEGABYTES = 3000
_MEMORY = Path("/proc/meminfo")


def examine_live() -> Examination:
    """Look for everything the program needs, and what its live demo needs."""
    return Examination((*examine().checks, *live_checks()))


def missing_for_demo() -> tuple[Check, ...]:
    """Return what keeps the live demo from starting; what only its window needs is not among it."""
    return tuple(check for check in (check_java(), *live_checks()) if check.is_needed and not check.ok)


def live_checks() -> tuple[Check, ...]:
    """Look for what the real servers need."""
    checks = (
        check_system(sys.platform),
        check_postgres(),
        check_maven(),
        *(check_jars(jars, is_needed=jars is KAFKA_JARS) for jars in JAR_SETS),
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
    """Say whether jars are in the cache; those that are not are fetched when they are first needed."""
    name = f"Jars of {jars.title}"
    if jars.is_fetched:
        return Check(name, True, str(jars.folder))
    when = "by the live demo when it first starts" if is_needed else "by the tests, and by whoever starts a registry"
    hint = f"About {jars.megabytes} MB are fetched by Maven {when}. To do it now:"
    return Check(name, False, "not fetched yet", hint, "metl doctor --live --fix", is_needed=False)


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
