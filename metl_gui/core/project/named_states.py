"""States that a person named or published."""

from __future__ import annotations

from metl_gui.values import Value


class NamedState(Value):
    """A state that a person named or published.

    Args:
        state, name, who, when_ms: what was named, by whom and when; without a name, who published it and when.
        published_who: who published it, the last time if that was more than once; ``None`` when nobody did.
        published_ms: when (milliseconds since 1970).
    """

    state: int
    name: str
    who: str
    when_ms: int
    published_who: str | None = None
    published_ms: int | None = None

    @property
    def is_published(self) -> bool:
        """Whether production may use it."""
        return self.published_ms is not None
