"""A server whose Java classes come from an archive, where there is one, so that it answers in half the time.

``make_archives`` of ``metl_gui.stack.server_archives`` has it written once for this computer.
"""

from __future__ import annotations

import signal
import subprocess
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from metl_gui.engine.spark.class_archive import archive_arguments, archive_of, program_key, writing_arguments
from metl_gui.engine.spark.java import find_java
from metl_gui.stack.component import Component

QUICK_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Quick to start and small: these are servers for a try."""
_LOG_OPTIONS = (
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS",
)


_WRITING_SECONDS = 120.0


class JavaServer(Component):
    """A server that is one Java program.

    Args:
        folder: everything it writes goes here.
        ports: where it listens.
        memory: what its heap may take.
        archive_to: where Java writes the archive of the classes that were used, when the server is stopped.
    """

    main: ClassVar[str]
    """The class that it starts with."""

    def __init__(self, folder: Path | None, ports: Sequence[int], memory: str, archive_to: Path | None = None) -> None:
        super().__init__(folder, ports)
        self.memory = memory
        self._archive_to = archive_to

    @property
    @abstractmethod
    def libraries(self) -> Path:
        """The folder of its jars.

        Raises:
            SetupError: they are not here and cannot be fetched.
        """

    @property
    def archive_key(self) -> str:
        """What tells the archive of its classes from others."""
        return program_key(find_java(), self.libraries, self.main)

    def stop(self) -> None:
        """End it, in order where Java has an archive to write, and remove its folder if that was its own."""
        if self._archive_to is not None:
            self._end(signal.SIGTERM, _WRITING_SECONDS)
        super().stop()

    def _java(self, main: str, *arguments: str, memory: str = "") -> list[str]:
        """Return the command of one of its programs; all of them use the archive of the server."""
        java = find_java().path / "bin" / "java"
        classes = writing_arguments(self._archive_to) if self._archive_to and main == self.main else self._mapped()
        options = [f"-Xmx{memory or self.memory}", *classes, *QUICK_OPTIONS, *_LOG_OPTIONS]
        return [str(java), *options, "-cp", f"{self.libraries}/*", main, *arguments]

    def _mapped(self) -> list[str]:
        archive = archive_of(self.archive_key)
        return archive_arguments(archive) if archive is not None else []

    def _run_java(self, main: str, *arguments: str, memory: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs to its end, again where Java did not live with the archive."""
        while True:
            done = subprocess.run(
                self._java(main, *arguments, memory=memory),
                cwd=self.folder,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            if not (done.returncode < 0 and self._has_removed_archive()):
                return done

    def _can_try_again(self) -> bool:
        died = self.process is not None and (self.process.poll() or 0) < 0
        return (died and self._has_removed_archive()) or super()._can_try_again()

    def _has_removed_archive(self) -> bool:
        archive = archive_of(self.archive_key)
        if archive is not None:
            archive.unlink(missing_ok=True)
        return archive is not None
