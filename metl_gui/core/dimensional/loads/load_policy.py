"""When what a followed source has brought is loaded."""

from __future__ import annotations

from metl_gui.values import Value

EVERY_SECONDS = 60.0
"""How often a source is loaded that is followed, where nothing is said."""


class LoadPolicy(Value):
    """When a load is due; any of it is enough.

    Args:
        every_seconds: after this long since the load before, 0 for never.
        when_waiting: once so many messages wait, 0 for never.
        when_asked: when somebody asks for it.
    """

    every_seconds: float = EVERY_SECONDS
    when_waiting: int = 0
    when_asked: bool = False

    @classmethod
    def of(cls, every_seconds: float | None, when_waiting: int | None, *, when_asked: bool) -> LoadPolicy:
        """Return what was asked for; where nothing was, the default."""
        is_said = every_seconds is not None or when_waiting is not None or when_asked
        every = every_seconds if every_seconds is not None else 0.0 if is_said else EVERY_SECONDS
        return cls(every, when_waiting or 0, when_asked)

    def is_due(self, waiting: int, seconds: float, *, is_asked: bool = False) -> bool:
        """Return whether to load now.

        Args:
            waiting: messages that wait.
            seconds: since the load before.
            is_asked: somebody asked.
        """
        return (
            (self.every_seconds > 0 and seconds >= self.every_seconds)
            or 0 < self.when_waiting <= waiting
            or (self.when_asked and is_asked)
        )
