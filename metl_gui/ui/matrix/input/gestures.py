"""What the mouse means over the plane: pure state machines from presses and movements to wishes.

Source: docs/guide/mapping.md, "Map". Units: pixels of the widget.
"""

from __future__ import annotations

from enum import Enum

from metl_gui.values import Value

DRAG_PX = 6.0


class Drag(Enum):
    """What a press becomes when the mouse moves away from it."""

    PAN = "pan"
    RUN = "run"
    RECTANGLE = "rectangle"
    NOTHING = "nothing"


class Button(Enum):
    """The buttons that begin a gesture."""

    LEFT = "left"
    MIDDLE = "middle"


class Keys(Value):
    """What is held down with the mouse."""

    control: bool = False
    shift: bool = False
    alt: bool = False
    space: bool = False


NO_KEYS = Keys()


class Pan(Value):
    """Move the plane by pixels."""

    dx: float
    dy: float


class Click(Value):
    """A press and release at one place.

    Args:
        x, y: where.
        edits: whether a cell there is set or cleared, beside being selected.
        extends: whether it stretches a rectangle from the current cell.
    """

    x: float
    y: float
    edits: bool = True
    extends: bool = False


class DragSpan(Value):
    """A run or a rectangle from one place to another.

    Args:
        drag: which of the two.
        start, end: the places.
        is_done: whether the button was released, so that it counts.
    """

    drag: Drag
    start: tuple[float, float]
    end: tuple[float, float]
    is_done: bool = False


class Press:
    """One press of a button, from down to up; Esc abandons it.

    Args:
        x, y: where it went down.
        button: which one.
        keys: what was held down.
        is_on_cell: whether a cell that is large enough to edit lies there.
    """

    def __init__(
        self, x: float, y: float, button: Button = Button.LEFT, keys: Keys = NO_KEYS, is_on_cell: bool = False
    ) -> None:
        self._start = (x, y)
        self._last = (x, y)
        self._button = button
        self._keys = keys
        self._drag = _drag_of(button, keys, is_on_cell)
        self.is_drag = self._drag is Drag.PAN and (button is Button.MIDDLE or keys.space)
        self.is_abandoned = False

    def move(self, x: float, y: float) -> Pan | DragSpan | None:
        """Tell what a movement means; nothing until it is a drag."""
        if self.is_abandoned or self._drag is Drag.NOTHING:
            return None
        if not self.is_drag:
            away = max(abs(x - self._start[0]), abs(y - self._start[1]))
            if away < DRAG_PX:
                return None
            self.is_drag = True
        if self._drag is not Drag.PAN:
            return DragSpan(self._drag, self._start, (x, y))
        pan = Pan(x - self._last[0], y - self._last[1])
        self._last = (x, y)
        return pan

    def release(self, x: float, y: float) -> Click | DragSpan | None:
        """Tell what the release means; an ended pan or an abandoned press means nothing."""
        if self.is_abandoned or self._button is Button.MIDDLE or self._keys.space:
            return None
        if not self.is_drag:
            held = self._keys
            return Click(*self._start, edits=not (held.alt or held.control or held.shift), extends=held.shift)
        return None if self._drag is Drag.PAN else DragSpan(self._drag, self._start, (x, y), is_done=True)

    def abandon(self) -> None:
        """Let the press mean nothing."""
        self.is_abandoned = True


class SpaceKey:
    """Space pans while it is held with the mouse, and sets or clears the cell when it was only tapped."""

    def __init__(self) -> None:
        self.is_down = False
        self._was_used = False

    def press(self) -> None:
        """Hold it down."""
        if not self.is_down:
            self.is_down, self._was_used = True, False

    def use(self) -> None:
        """Begin a gesture while it is held."""
        self._was_used = True

    def release(self) -> bool:
        """Let it go; whether it was only tapped."""
        was_tapped = self.is_down and not self._was_used
        self.is_down = False
        return was_tapped

    def forget(self) -> None:
        """Let it go without meaning anything, because the focus went elsewhere."""
        self.is_down = False


def wheel_factors(turns: float, keys: Keys, step: float = 1.18) -> tuple[float, float]:
    """Return by what a wheel scales columns and rows: both, Shift columns, Ctrl+Shift rows."""
    factor = step**turns
    return 1.0 if keys.shift and keys.control else factor, 1.0 if keys.shift and not keys.control else factor


def _drag_of(button: Button, keys: Keys, is_on_cell: bool) -> Drag:
    if button is Button.MIDDLE or keys.space:
        return Drag.PAN
    if keys.alt:
        return Drag.NOTHING
    if keys.control:
        return Drag.RUN if is_on_cell else Drag.NOTHING
    return Drag.RECTANGLE if keys.shift else Drag.PAN
