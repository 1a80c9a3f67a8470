"""What mouse movements over the plane mean: a left drag of six pixels or more pans, anything shorter is a click."""

from __future__ import annotations

from dataclasses import dataclass

DRAG_PX = 6.0


@dataclass(frozen=True)
class Pan:
    """Move the plane by pixels."""

    dx: float
    dy: float


@dataclass(frozen=True)
class Click:
    """A press and release at one place."""

    x: float
    y: float


class Press:
    """One press of a button, from down to up; Esc abandons it.

    Args:
        x, y: where it went down.
        pans_at_once: whether this button pans without waiting (the middle one).
        pans: whether it pans at all.
    """

    def __init__(self, x: float, y: float, pans_at_once: bool = False, pans: bool = True) -> None:
        self._start = (x, y)
        self._last = (x, y)
        self._pans = pans
        self.is_drag = pans_at_once
        self.is_abandoned = False

    def move(self, x: float, y: float) -> Pan | None:
        """Tell what a movement means; nothing until it is a drag."""
        if self.is_abandoned or not self._pans:
            return None
        if not self.is_drag:
            away = max(abs(x - self._start[0]), abs(y - self._start[1]))
            if away < DRAG_PX:
                return None
            self.is_drag = True
        pan = Pan(x - self._last[0], y - self._last[1])
        self._last = (x, y)
        return pan

    def release(self) -> Click | None:
        """Tell what the release means; a drag or an abandoned press means nothing."""
        return None if self.is_drag or self.is_abandoned else Click(*self._start)

    def abandon(self) -> None:
        """Let the press mean nothing."""
        self.is_abandoned = True
