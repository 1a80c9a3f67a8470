"""What a task writes messages into, whatever it is."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from metl_gui.engine.kernel.outcomes import Outcome


class Refusal(NamedTuple):
    """Why a sink does not take a record.

    Args:
        schema, version, position: of the record, as its messages say it.
        detail: the attribute, what it takes, and the value that it does not take.
        reason: what it is set aside for.
    """

    schema: str
    version: str
    position: str
    detail: str
    reason: str = "type_mismatch"


class Sink(Protocol):
    """The messages of one attempt of one task.

    Order: each part has the messages of its folder as they came.
    """

    def append(self, outcome: Outcome) -> dict[int, Refusal]:
        """Take the messages of a batch; of a record that it refuses it takes none at all.

        Returns:
            Refused records by their number in the batch.

        Raises:
            TaskError: something cannot be written.
        """
        ...

    def close(self) -> list[str]:
        """Write what is left and return the paths of all parts.

        Raises:
            TaskError: something cannot be written.
        """
        ...
