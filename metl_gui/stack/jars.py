"""Jars from Maven Central, fetched once into the user's cache by Maven itself.

Their code runs here, so each is the one that was tried or none: ``resources/jars.sha256`` has the digest of every file
of every set, what others depend on and what an archive holds among them, as ``sha256sum`` writes it.
"""

from __future__ import annotations

import hashlib
import os
import queue
import re
import secrets
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path

from metl_gui.core.progress import UNWATCHED, Watch
from metl_gui.engine.spark.java import find_java
from metl_gui.errors import SetupError
from metl_gui.file_locks import lock
from metl_gui.own_files import cache_folder, close_all, is_only_ours, make_folder, open_file, write_file
from metl_gui.packaged import resources
from metl_gui.stack import component, guard
from metl_gui.values import Value

_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
_FETCHED = re.compile(r"Downloaded from .*\(([\d.]+) ([kMG]?B) at")
_PROGRESS = re.compile(r"Progress \(\d+\): (.+)")
_AMOUNT = re.compile(r"([\d.]+)(?: ([kMG]?B))?(?:/[\d.]+ ([kMG]?B))?")
_ERROR = re.compile(r"\[ERROR\] (.+)")
_LOOK_SECONDS = 0.1
_ARCHIVE = ".tar.gz"
_PINS = "jars.sha256"
_STRICT = "--strict-checksums"


class Artifact(Value):
    """One thing on Maven Central.

    Args:
        group: such as ``org.apache.kafka``.
        name: such as ``connect-runtime``.
        version: the version that was tried.
        kind: ``jar``, or ``tar.gz`` for a program that comes whole and is unpacked.
        classifier: what else its file name says.
    """

    group: str
    name: str
    version: str
    kind: str = "jar"
    classifier: str = ""

    @property
    def coordinates(self) -> str:
        """How Maven names it."""
        return ":".join(filter(None, (self.group, self.name, self.version, self.kind, self.classifier)))


class JarSet(Value):
    """What one program is made of.

    Args:
        name: its folder in the cache.
        title: what people call it.
        artifacts: what is asked for; jars come with what they depend on.
        megabytes: about how much is fetched, for whoever waits.
    """

    name: str
    title: str
    artifacts: tuple[Artifact, ...]
    megabytes: int

    @property
    def folder(self) -> Path:
        """Where it is kept, by what it is made of: another version is another folder."""
        made_of = "\n".join(artifact.coordinates for artifact in self.artifacts)
        return cache_folder() / "components" / f"{self.name}-{hashlib.sha256(made_of.encode()).hexdigest()[:10]}"

    @property
    def is_fetched(self) -> bool:
        """Whether it is in the cache, whole."""
        return self.folder.is_dir()


def fetch(jars: JarSet, watch: Watch = UNWATCHED) -> Path:
    """Return the folder of a set of jars, fetched when they are not in the cache yet.

    Args:
        jars: what is needed.
        watch: told each file that has come; may cancel.

    Raises:
        SetupError: Maven or Java is missing, Maven could not fetch them, or a file is not the one that was tried.
        RunCancelled: the watch was cancelled; nothing half-fetched stays.
    """
    if jars.is_fetched:
        return _checked(jars)
    program = find_maven()
    make_folder(jars.folder.parent)
    with _locked(jars.folder.with_suffix(".lock"), jars, watch):
        if not jars.is_fetched:
            part = jars.folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            try:
                _fetch_into(part, jars, program, watch)
                _require_pinned(jars, part, files_of(part))
                close_all(part)
                part.rename(jars.folder)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return _checked(jars)


def pinned(jars: JarSet) -> dict[str, str]:
    """Return the digest of each file of a set, and of the archives that it comes in, by path."""
    lines = (line.split("  ", 1) for line in (resources() / _PINS).read_text(encoding="utf-8").splitlines())
    prefix = f"{jars.name}/"
    return {path.removeprefix(prefix): digest for digest, path in lines if path.startswith(prefix)}


def files_of(folder: Path) -> list[str]:
    """List what lies in a folder, deep, by path from it; a link counts as a file, whatever it leads to."""
    found = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def _checked(jars: JarSet) -> Path:
    """Check whether a set in the cache is what was tried: by its digests once, then by what a change would show in.

    Raises:
        SetupError: others can write there, or a file is another one.
    """
    if not is_only_ours(jars.folder):
        raise SetupError(
            f"The jars of {jars.title} are not safe from others.",
            f"Others can write to {jars.folder}, or to a folder on the way to it.",
            "Take that right from them, or name another cache folder in XDG_CACHE_HOME.",
        )
    files, stamp = files_of(jars.folder), jars.folder.with_suffix(".checked")
    seen = hashlib.sha256(repr(sorted(pinned(jars).items())).encode())
    for name in files:
        state = (jars.folder / name).lstat()
        seen.update(f"{name}\0{state.st_ino} {state.st_size} {state.st_mtime_ns} {state.st_ctime_ns}\0".encode())
    if not stamp.is_file() or stamp.read_text() != seen.hexdigest():
        _require_pinned(jars, jars.folder, files)
        write_file(stamp, seen.hexdigest().encode())
    return jars.folder


def _require_pinned(jars: JarSet, folder: Path, files: list[str]) -> None:
    """Refuse a set that is not, file by file, what was tried.

    Raises:
        SetupError: the error names the file.
    """
    wanted = {name: digest for name, digest in pinned(jars).items() if not name.endswith(_ARCHIVE)}
    for name in (*files, *sorted(wanted.keys() - set(files))):
        _require_file(jars, folder / name, wanted.get(name))


def _require_file(jars: JarSet, path: Path, wanted: str | None) -> None:
    found = "is missing"
    if path.is_symlink():
        found = "is a link"
    elif path.is_file():
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest == wanted:
            return
        found = f"has the SHA-256 {digest}"
    raise SetupError(
        f"A file of {jars.title} is not the one that was tried.",
        f"{path} {found}; {f'{wanted} is right' if wanted else 'it does not belong there'}. Nothing of it is started.",
        f"Remove {jars.folder}, so that it is fetched anew; if that does not help, ask whoever runs your Maven mirror.",
    )


def find_maven() -> str:
    """Return Maven's program.

    Raises:
        SetupError: there is none.
    """
    found = shutil.which("mvn")
    if found is None:
        raise SetupError(
            "Maven is missing.",
            "It fetches the jars of Kafka, Debezium and the registry.",
            "Run `metl doctor --live --fix`, or install it yourself (Debian: `apt-get install maven`).",
        )
    return found


def _fetch_into(part: Path, jars: JarSet, program: str, watch: Watch) -> None:
    make_folder(part)
    whole = [artifact for artifact in jars.artifacts if artifact.kind != "jar"]
    parts = [artifact for artifact in jars.artifacts if artifact.kind == "jar"]
    place = f"-DoutputDirectory={part}"
    if parts:
        pom = part / "pom.xml"
        pom.write_text(_pom(parts))
        _run_maven([program, _STRICT, "-f", str(pom), f"{_PLUGIN}:copy-dependencies", place], jars, part, watch)
        pom.unlink()
    for artifact in whole:
        wanted = f"-Dartifact={artifact.coordinates}"
        _run_maven([program, _STRICT, f"{_PLUGIN}:copy", wanted, place], jars, part, watch)
    for archive in part.glob(f"*{_ARCHIVE}"):
        _require_file(jars, archive, pinned(jars).get(archive.name))
        watch.step(f"Unpacking {archive.name}")
        with tarfile.open(archive) as opened:
            if hasattr(tarfile, "data_filter"):  # not in the oldest 3.11
                opened.extraction_filter = tarfile.data_filter
            opened.extractall(part)  # noqa: S202 - the very archive that was tried
        archive.unlink()


def _run_maven(command: list[str], jars: JarSet, folder: Path, watch: Watch) -> None:
    heard, mark = _MavenProgress(jars, watch), secrets.token_hex(8)
    # Not in batch mode, in which it does not tell how far a large file is.
    with subprocess.Popen(
        [*command, "-Dstyle.color=never"],
        cwd=folder,
        env={**os.environ, "JAVA_HOME": str(find_java().path), guard.MARK: mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,  # which takes the carriage returns of a progress line for ends of lines
        errors="replace",
        start_new_session=True,
    ) as maven:
        component.guard_process(maven.pid, mark, 0)
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        reader = threading.Thread(target=_read, args=(maven.stdout, lines), name="maven", daemon=True)
        reader.start()
        try:
            heard.listen(lines)
        except BaseException:
            guard.end(maven.pid, mark)
            raise
        finally:
            reader.join()
            component.release_process(maven.pid)
    if maven.returncode != 0:
        raise SetupError(
            f"The jars of {jars.title} cannot be fetched.",
            f"Maven said: {heard.errors[0][:600] if heard.errors else f'nothing, and ended with {maven.returncode}'}",
            "Look whether this computer reaches https://repo.maven.apache.org, or name a mirror or proxy in "
            "~/.m2/settings.xml; then try again.",
        )


def _read(stream: Iterable[str] | None, lines: queue.SimpleQueue[str | None]) -> None:
    for line in stream or ():
        lines.put(line)
    lines.put(None)


class _MavenProgress:
    """What Maven says, made progress.

    Args:
        jars: what is fetched.
        watch: told how many megabytes have come; may cancel, also while Maven says nothing.
    """

    def __init__(self, jars: JarSet, watch: Watch) -> None:
        self.jars = jars
        self.watch = watch
        self.errors: list[str] = []
        self._come = 0.0
        self._coming = 0.0

    def listen(self, lines: queue.SimpleQueue[str | None]) -> None:
        """Listen until the end."""
        text, most, total = f"Fetching {self.jars.title}, once: megabytes", 0, self.jars.megabytes
        while True:
            # Maven's own parts come too, and what is on this computer already does not.
            most = min(max(most, int(self._come + self._coming)), total)
            self.watch.step(text, most, total)
            try:
                line = lines.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                continue
            if line is None:
                return
            self._hear(line)

    def _hear(self, line: str) -> None:
        if found := _ERROR.search(line):
            self.errors.append(found[1].strip())
        elif found := _FETCHED.search(line):
            self._come += _megabytes(found[1], found[2])
        elif found := _PROGRESS.search(line):
            parts = (_AMOUNT.search(part) for part in found[1].split("|"))
            self._coming = sum(_megabytes(part[1], part[2] or part[3]) for part in parts if part)


def _megabytes(number: str, unit: str) -> float:
    return float(number) * {"GB": 1000, "MB": 1, "kB": 1e-3}.get(unit, 1e-6)


def _pom(artifacts: list[Artifact]) -> str:
    wanted = "".join(
        f"<dependency><groupId>{artifact.group}</groupId><artifactId>{artifact.name}</artifactId>"
        f"<version>{artifact.version}</version></dependency>\n"
        for artifact in artifacts
    )
    head = '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    own = "<groupId>metl</groupId><artifactId>components</artifactId><version>1</version><packaging>pom</packaging>"
    return f"{head}{own}<dependencies>\n{wanted}</dependencies></project>\n"


@contextmanager
def _locked(path: Path, jars: JarSet, watch: Watch) -> Iterator[None]:
    """Let one process at a time fetch."""
    with open_file(path, "wb") as file:
        waiting = partial(watch.step, f"Waiting for somebody else who fetches {jars.title}")
        lock(file, if_supported=True, seconds=inf, waiting=waiting)
        yield
