"""What this computer must have, what of it is missing, and the commands that mend it.

Nothing heavy is loaded to find out: versions come from the installed packages' metadata, system libraries are opened by
a short-lived child process, and Java is looked up where a run would look it up.

``QT_LIBRARIES`` has the system libraries that the parts of Qt we use open, and the Debian packages that bring them. A
test compares it with what the libraries and plugins of the installed Qt really ask for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from pathlib import Path

from msgspec.structs import replace

from metl_gui.engine import all_machine_code
from metl_gui.engine.execution import kept_session
from metl_gui.engine.kernel.compiled import build
from metl_gui.engine.spark import class_archive
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError
from metl_gui.values import Value

QT_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libbrotlicommon.so.1": "libbrotli1",
    "libbrotlidec.so.1": "libbrotli1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libstdc++.so.6": "libstdc++6",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
"""Debian package by library name."""


OLDEST_PYTHON = (3, 11)
JAVA_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless", "default-jre-headless")
"""The first of these that the system offers is installed."""
FONT_PACKAGE = "fonts-dejavu-core"
_FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
_FONT_SUFFIXES = {".ttf", ".otf", ".ttc", ".pfb"}
_OPEN_EACH = """
import ctypes, json, sys
missing = []
for name in sys.argv[1:]:
    try:
        ctypes.CDLL(name)
    except OSError:
        missing.append(name)
print(json.dumps(missing))
"""


class Check(Value):
    """One thing that was looked for.

    Args:
        name: what it is.
        ok: whether it is there and good enough.
        found: what was found, for people.
        hint: what its absence means and how to get it; empty when it is there.
        command: the command that mends it; empty when there is none or nothing to mend.
        packages: Debian packages that mend it; of several in one entry (``a|b``) the first that is offered.
        is_needed: whether nothing goes without it.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""
    command: str = ""
    packages: tuple[str, ...] = ()
    is_needed: bool = True

    def as_json(self) -> dict[str, object]:
        """Return the check as ``metl doctor --json`` writes it."""
        told = {"name": self.name, "ok": self.ok, "found": self.found, "hint": self.hint, "command": self.command}
        return told | {"needed": self.is_needed}


class Examination(Value):
    """All checks of one look at this computer."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is missing that is needed."""
        return all(check.ok or not check.is_needed for check in self.checks)

    @property
    def missing(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)

    @property
    def packages(self) -> tuple[str, ...]:
        """The Debian packages that would mend what can be mended by packages."""
        return tuple(dict.fromkeys(package for check in self.missing for package in check.packages))

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that mend everything that commands mend, packages in one line."""
        own = dict.fromkeys(check.command for check in self.missing if check.command and not check.packages)
        return tuple(own) + ((install_line(self.packages),) if self.packages and has_apt() else ())

    def as_json(self) -> dict[str, object]:
        """Return the document of ``metl doctor --json``."""
        return {"checks": [check.as_json() for check in self.checks]}


def examine() -> Examination:
    """Check for everything the program needs on this computer."""
    checks = (
        check_python(),
        check_java(),
        check_package("Spark", "pyspark", "4.2", "4.3", "The mapping runs on it."),
        check_class_archive(),
        check_machine_code(),
        *kept_session_checks(),
        check_package("Qt for Python", "PySide6-Essentials", "6.8", "6.12", "The window is drawn with it."),
        check_libraries(QT_LIBRARIES),
        check_fonts([Path(folder).expanduser() for folder in _FONT_FOLDERS]),
    )
    return Examination(tuple(with_command(check) for check in checks))


def check_python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Check:
    """Check the Python that runs this program."""
    found = ".".join(str(part) for part in version)
    if version >= OLDEST_PYTHON:
        return Check("Python", True, found)
    return Check("Python", False, found, "Make the venv with Python 3.11 or newer.")


def check_java() -> Check:
    """Check for a Java that Spark accepts."""
    try:
        java = find_java()
    except SetupError as error:
        hint = "Spark needs Java 17 or newer. Install one, or set JAVA_HOME to one."
        return Check(
            "Java", False, error.text.removeprefix("Spark needs it. "), hint, packages=("|".join(JAVA_PACKAGES),)
        )
    return Check("Java", True, f"{java.version} in {java.path}")


def check_package(name: str, distribution: str, first: str, below: str, purpose: str) -> Check:
    """Check that a Python package of a good version is installed, without importing it.

    Args:
        name: what people call it.
        distribution: its name for pip.
        first: the first good version.
        below: the first version that is too new.
        purpose: what it is for, one sentence.
    """
    command = f"{sys.executable} -m pip install '{distribution}>={first},<{below}'"
    try:
        found = metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return Check(name, False, "not installed", purpose, command)
    if _numbers(first) <= _numbers(found) < _numbers(below):
        return Check(name, True, found)
    return Check(name, False, found, f"{purpose} A version from {first} and below {below} is needed.", command)


def check_machine_code() -> Check:
    """Say whether machine code is there; runs do without it until it is, so only a compiler is needed."""
    name = "Machine code that maps"
    if not build.is_possible():
        command = f"{sys.executable} -m pip install numba"
        return Check(name, False, "no compiler", "Without numba runs are some ten times slower.", command)
    if all_machine_code.is_made():
        return Check(name, True, "made")
    missing = "made, but not yet for tables: the first large one has it made"
    return Check(name, True, missing if build.is_ready() else "not made yet, the first run has it made")


def check_class_archive() -> Check:
    """Return whether Spark's Java classes are archived; Spark starts without too, in twice the time."""
    name = "Archive of Spark's Java classes"
    try:
        is_made = class_archive.find_archive(find_java()) is not None
    except SetupError:
        is_made = False
    return Check(name, True, "made" if is_made else "not made yet, `metl doctor --fix` does it")


def kept_session_checks() -> tuple[Check, ...]:
    """Say of each session of Spark that is kept for further commands what it does."""
    return tuple(Check("Kept session of Spark", True, _session_words(note)) for note in kept_session.kept_sessions())


def stop_sessions() -> tuple[str, ...]:
    """End the sessions of Spark that are kept for further commands, and describe each."""
    return tuple(_session_words(note) for note in kept_session.stop_kept())


def _session_words(note: kept_session.SessionNote) -> str:
    if note.idle_since_ms is None:
        course = "works for a command"
    else:
        course = f"idle for {max(0, round(time.time() - note.idle_since_ms / 1000))} s"
    return f"{note.target}, process {note.process}, {course}"


def begin_machine_code() -> subprocess.Popen[bytes] | None:
    """Start a process that makes machine code, while other things are fetched and installed.

    Returns:
        The process, for ``prepare_first_run``; ``None`` where there is nothing to make or another process is at it.
    """
    return build.build_in_background()


def prepare_first_run(tell: Callable[[str], None], begun: subprocess.Popen[bytes] | None = None) -> bool:
    """Make what the first run would have to make or do without: machine code, and the archive of Spark's classes.

    Args:
        tell: told before each begins.
        begun: the process that makes the machine code already.

    Returns:
        Whether something was made.
    """
    return any([make_machine_code(tell, begun), make_class_archive(tell)])


def make_class_archive(tell: Callable[[str], None]) -> bool:
    """Make the archive of Spark's Java classes now, so that Spark starts sooner.

    Args:
        tell: told before it begins, as it takes some twenty seconds.

    Returns:
        Whether it was made; not when it is there already or cannot be.
    """
    try:
        java = find_java()
    except SetupError:
        return False
    if class_archive.find_archive(java) is not None or not class_archive.archive_key(java):
        return False
    tell("archiving Spark's Java classes, once for this computer")
    command = [sys.executable, "-m", "metl_gui.engine.execution.class_archive_builder"]
    made = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if made.returncode != 0:
        tell((made.stderr.strip().splitlines() or ["it was not made"])[-1])
    return made.returncode == 0


def make_machine_code(tell: Callable[[str], None], begun: subprocess.Popen[bytes] | None = None) -> bool:
    """Make machine code now, so that the first run has it.

    Args:
        tell: told before it begins, as it takes some twenty seconds.
        begun: a process that is at it already, which is waited for.

    Returns:
        Whether it was made; not when it is there already or cannot be.
    """
    if begun is not None:
        begun.wait()
        if all_machine_code.is_made():
            return True
    if all_machine_code.is_made() or not build.is_possible() or build.folder() is None:
        return False
    tell("making the machine code that maps, once for this computer")
    made = subprocess.run([sys.executable, "-m", build.MAKER], capture_output=True, check=False)
    return made.returncode == 0


def check_libraries(packages: dict[str, str]) -> Check:
    """Check that the system libraries Qt opens can be opened.

    Args:
        packages: Debian package by library.
    """
    name = "System libraries for Qt"
    missing = missing_libraries(packages)
    if not missing:
        return Check(name, True, f"all {len(packages)}")
    needed = tuple(dict.fromkeys(packages[library] for library in missing))
    return Check(name, False, f"missing {', '.join(missing)}", "The window cannot open without them.", packages=needed)


def missing_libraries(libraries: Iterable[str]) -> list[str]:
    """Return the libraries that the system's loader does not find.

    A child process opens them, so that what ``apt-get`` brought a moment ago is seen and nothing stays loaded here.
    """
    names = list(libraries)
    answer = subprocess.run(
        [sys.executable, "-c", _OPEN_EACH, *names], capture_output=True, text=True, timeout=60, check=False
    )
    if answer.returncode != 0:
        return names
    missing = json.loads(answer.stdout)
    return [name for name in names if name in missing]


def check_fonts(folders: Iterable[Path]) -> Check:
    """Check that there is a font at all; without one Qt draws no letters."""
    for folder in folders:
        if any(path.suffix.lower() in _FONT_SUFFIXES for path in folder.rglob("*")):
            return Check("Fonts", True, str(folder))
    return Check("Fonts", False, "none", "Without a font the window has no letters.", packages=(FONT_PACKAGE,))


def mend(
    examination: Examination, tell: Callable[[str], None], look: Callable[[], Examination] = examine
) -> Examination:
    """Install what is missing as far as that is allowed here, and look again.

    Args:
        examination: what was found.
        tell: told each command before it runs and what it says.
        look: how it was found.
    """
    if not examination.packages:
        return examination
    if not has_apt() or os.geteuid() != 0:
        return examination
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    _run(["apt-get", "update"], environment, tell)
    packages = [offered(package) for package in examination.packages]
    _run(["apt-get", "install", "-y", "--no-install-recommends", *packages], environment, tell)
    return look()


def offered(choice: str) -> str:
    """Return the first package of ``a|b|c`` that the system offers, else the first."""
    names = choice.split("|")
    for name in names:
        if subprocess.run(["apt-cache", "show", name], capture_output=True, check=False).returncode == 0:
            return name
    return names[0]


def _run(command: list[str], environment: dict[str, str], tell: Callable[[str], None]) -> None:
    tell(" ".join(command))
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        for line in process.stdout or ():
            tell(line.rstrip())
    if process.returncode != 0:
        tell(f"{command[0]} ended with {process.returncode}")


def has_apt() -> bool:
    """Whether packages are installed with apt here."""
    return shutil.which("apt-get") is not None


def install_line(packages: Iterable[str]) -> str:
    """Write the line that a person runs to install packages, with the first of each ``a|b``."""
    sudo = "" if os.geteuid() == 0 else "sudo "
    names = " ".join(package.partition("|")[0] for package in packages)
    return f"{sudo}apt-get update && {sudo}apt-get install -y {names}"


def with_command(check: Check) -> Check:
    """Return a check with the command that brings its packages, where there is one here."""
    if check.ok or not check.packages or not has_apt():
        return check
    return replace(check, command=install_line(check.packages))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
