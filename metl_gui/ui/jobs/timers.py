"""Work between the events of the window, driven by timers: a generator step by step, or once after a pause.

``GeneratorRunner`` runs a generator that yields every few milliseconds. It is for work over numpy columns that is too
long for one frame and too short for a job: nothing is sent to another thread, the next letter typed stops it, and what
it found so far can be shown. ``pause`` is for letters or changes that come in quick succession: what follows them is
done once, after the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

SLICE_MS = 10


class GeneratorRunner(QObject):
    """Works through one generator at a time.

    Signals:
        stepped: some steps were made, and there are more.
        ended: the work is through.
    """

    stepped = Signal()
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Iterator[None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)

    @property
    def is_busy(self) -> bool:
        """Whether work is under way."""
        return self._work is not None

    def start(self, work: Iterator[None], at_once: bool = False) -> None:
        """Begin other work; what was under way is dropped.

        Args:
            work: yields every few milliseconds.
            at_once: do it all before returning; for work that is short.
        """
        self.stop()
        self._work = work
        if at_once:
            for _ in work:
                pass
            self._end()
        else:
            self._timer.start()

    def stop(self) -> None:
        """Drop what is under way."""
        self._timer.stop()
        self._work = None

    def _go_on(self) -> None:
        clock = QElapsedTimer()
        clock.start()
        work = self._work
        while work is not None and clock.elapsed() < SLICE_MS:
            if next(work, self) is self:
                self._end()
                return
        self.stepped.emit()

    def _end(self) -> None:
        self.stop()
        self.ended.emit()


def pause(parent: QObject, delay_ms: int, then: Callable[[], object]) -> QTimer:
    """Make a timer that does something when nobody has started it again for a while; it ends with its parent."""
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(delay_ms)
    timer.timeout.connect(then)
    return timer
