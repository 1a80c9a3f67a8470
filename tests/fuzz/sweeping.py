"""The compiled kernel alone over very many records, for what the checked build has to say of its accesses."""

from __future__ import annotations

from numba import njit

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.driver import Driver, _Batch, _runs
from metl_gui.engine.kernel.compiled.memory import load64, store64, violations
from metl_gui.engine.kernel.compiled.message_writer import map_record
from metl_gui.engine.kernel.compiled.tables import address_of
from metl_gui.engine.kernel.message_records import RecordBatch
from metl_gui.engine.kernel.outcomes import BatchOutput
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.kernel.reference import ReferenceKernel
from metl_gui.errors import RecordError
from tests.fuzz.kernels import Pair, Setting

_LEARNED_EVERY = 20
_UNSEEN = RecordError("malformed", "not looked at")


class Alone(Pair):
    """The compiled kernel without the reference: nothing is compared, only its accesses are watched.

    It learns from one batch in twenty as ever; in the others it goes through every record, whatever it lacks for one.
    """

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self.compiled.map(Records.of([], ""))
        driver = self.compiled._machine.loaded
        assert driver is not None
        self.driver = driver
        self.batches = 0
        driver.reference = _Idle(driver)

    def differ(self, records: RecordBatch) -> list[str]:
        """Map a batch and return what was accessed outside of what is allowed."""
        before, _, _ = violations()
        self.batches += 1
        try:
            if self.batches % _LEARNED_EVERY == 1:
                self.hits += self.compiled.map(records).hits
            else:
                self._sweep(records)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            return [f"raised {type(error).__name__}: {error}"]
        after, address, size = violations()
        if after == before:
            return []
        return [f"{after - before} accesses outside of what is allowed, the last of {size} bytes at {address:#x}"]

    def _sweep(self, records: RecordBatch) -> None:
        gathering = self.compiled._gathering
        gathering.begin(len(records))
        work = _Sweep(self.driver, records, records)
        for name, start, stop in _runs(records):
            if name is not None:
                gathering.done = start
                work.map(name, start, stop)
        self.driver._count()
        self.hits += sum(gathering.outcome(0).by_version.values())


class _Sweep(_Batch):
    """A batch in which a record that is left is passed over."""

    def _go(self) -> int:
        why: int = sweep(address_of(self.tables.state))
        get, gathering = self.tables.get, self.gathering
        gathering.done = get(at.S_NEXT)
        gathering.bytes_out = get(at.S_TEXT_USED)
        gathering.messages = get(at.S_MESSAGES)
        return why


class _Idle(ReferenceKernel):
    """A reference that maps only what machine code wants to be compared with."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.real = driver.reference

    def map_record(self, records: RecordBatch, record: int, outcome: BatchOutput) -> None:
        """Map a record for the proof, and set any other aside unseen."""
        if outcome is self.driver._proof:
            self.real.map_record(records, record, outcome)
        else:
            outcome.put_aside(_UNSEEN, b"{}")


@njit(nogil=True)
def sweep(state: int) -> int:
    """Map all records from the next one on, as ``map_records`` does but for stopping at those that are left."""
    record, last = load64(state + at.S_NEXT), load64(state + at.S_LAST)
    starts, stops, base = load64(state + at.S_STARTS), load64(state + at.S_STOPS), load64(state + at.S_BASE)
    why = at.DONE
    while record < last and why != at.LACKS_ROOM:
        why = map_record(state, base + load64(starts + record * 8), base + load64(stops + record * 8), record)
        if why != at.LACKS_ROOM:
            record += 1
    store64(state + at.S_NEXT, record)
    return at.LACKS_ROOM if why == at.LACKS_ROOM else at.DONE
