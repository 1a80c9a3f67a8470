"""The agreement of a matrix for those who only look on: the driver of a lane, windows and commands."""

from __future__ import annotations

import logging
import threading

from metl_gui.engine.kafka.servers import KafkaServers
from metl_gui.engine.lanes import agreement_log as log
from metl_gui.engine.lanes.agreement_fold import Fold
from metl_gui.engine.lanes.agreement_topic import Reader, fold_of
from metl_gui.engine.lanes.members import MemberFigures
from metl_gui.errors import UserError

_log = logging.getLogger(__name__)
_LOOK_SECONDS = 0.05
_AGAIN_SECONDS = 1.0
_CLOSE_SECONDS = 2.0


class AgreementWatch:
    """Reads the agreement without being a member, as the driver of a lane and commands do.

    Args:
        servers: where the topic is.
        matrix: the id of the project.
    """

    def __init__(self, servers: KafkaServers, matrix: str) -> None:
        self._servers, self._topic = servers, log.topic_of(matrix)
        self._fold = Fold()
        self._trouble = ""
        self._is_read = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._live, name="agreement-watch", daemon=True)
        self._thread.start()

    @property
    def in_force(self) -> int | None:
        """The state that is in force, None before the first."""
        found = self._fold.state_in_force
        return found.state if found is not None else None

    @property
    def pending(self) -> int | None:
        """The state that was announced and is not in force yet."""
        found = self._fold.pending
        return found.state if found is not None else None

    @property
    def is_frozen(self) -> bool:
        """Whether nothing is taken up until somebody allows it again."""
        return self._fold.is_frozen

    @property
    def trouble(self) -> str:
        """Why nothing can be read at the moment; empty when it can."""
        return self._trouble

    @property
    def fold(self) -> Fold:
        """Everything that is known; it goes on while somebody looks at it."""
        return self._fold

    def wait_until_read(self, seconds: float) -> bool:
        """Wait until all was read that stood there; whether it was."""
        return self._is_read.wait(seconds)

    def members(self) -> tuple[MemberFigures, ...]:
        """Return what is known of all members."""
        return self._fold.figures()

    def close(self) -> None:
        """End the thread that reads."""
        self._is_over.set()
        self._thread.join(_CLOSE_SECONDS)

    def _live(self) -> None:
        while not self._is_over.is_set():
            try:
                self._read()
            except UserError as error:
                self._trouble = f"{error.title} {error.text}".strip()
            except Exception as error:  # noqa: BLE001 - a thread's edge
                self._trouble = f"{type(error).__name__}: {error}"[:300]
                _log.exception("watching the agreement on the state ended in a fault of the program")
            self._is_over.wait(_AGAIN_SECONDS)

    def _read(self) -> None:
        reader = Reader(self._servers, self._topic)
        try:
            self._fold = fold_of(list(reader.first()))
            self._trouble = ""
            self._is_read.set()
            while not self._is_over.is_set():
                for entry in reader.next(_LOOK_SECONDS):
                    self._fold.take(entry)
        finally:
            reader.close()
