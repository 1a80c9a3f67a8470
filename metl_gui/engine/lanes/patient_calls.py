"""Calls into the client of Kafka that come back in any case.

``send_offsets_to_transaction`` of librdkafka 2.16 does not keep to its timeout: where the coordinator of the group dies
at the wrong moment, the call never returns (its issues 5456 and 5511). So what ends a transaction is done on a thread
of its own, and whoever waits for it gives it up; the client is thrown away then, and the one that comes fences it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from confluent_kafka import KafkaError, KafkaException

_Answer = TypeVar("_Answer")


class _Asked(Generic[_Answer]):
    """One call: what is to be done, and what came of it."""

    def __init__(self, do: Callable[[], _Answer]) -> None:
        self.do = do
        self.answers: queue.SimpleQueue[tuple[_Answer | None, BaseException | None]] = queue.SimpleQueue()

    def run(self) -> None:
        try:
            self.answers.put((self.do(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised where somebody waits for it
            self.answers.put((None, error))


class PatientCalls:
    """Does calls one after the other on a thread that may be left behind."""

    def __init__(self) -> None:
        self._asked: queue.SimpleQueue[_Asked[bool] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="kafka-calls", daemon=True)
        self._thread.start()

    def call(self, do: Callable[[], bool], seconds: float) -> bool:
        """Do something and return what it returns.

        Raises:
            KafkaException: it does not come back in time, and is given up; or it raised that.
        """
        asked = _Asked(do)
        self._asked.put(asked)
        try:
            answer, error = asked.answers.get(timeout=seconds)
        except queue.Empty:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, f"no answer within {seconds:.0f} s")) from None
        if error is not None:
            raise error
        return bool(answer)

    def close(self) -> None:
        """End the thread once it has nothing to do."""
        self._asked.put(None)

    def _run(self) -> None:
        while (asked := self._asked.get()) is not None:
            asked.run()
