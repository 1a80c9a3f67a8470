"""Loads and stores at plain addresses, which the compiled kernel is made of.

numba's arrays check indices and count references; here an address is an ``int64`` and nothing stands around a load. So
every caller proves its own bounds, and a checked build of the same source proves the callers: with
``METL_KERNEL_CHECKED=1`` in the environment each access is first looked up in the ranges that the kernel may touch
(``allow``), and one outside is counted in ``violations`` and not done.

Units: addresses and sizes are bytes. Numbers are little-endian; a byte is loaded as 0 to 255.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numba import cfunc, njit

from metl_gui.engine.kernel.compiled import instructions
from metl_gui.engine.kernel.compiled.instructions import VECTOR
from metl_gui.engine.kernel.compiled.jit_cache import Locator, keep

Function = TypeVar("Function", bound=Callable[..., Any])
Load: TypeAlias = Callable[[int], int]
Store: TypeAlias = Callable[[int, int], int]

IS_CHECKED = os.environ.get("METL_KERNEL_CHECKED", "") not in ("", "0")
"""Whether this process has the build that proves every access."""

_MOST_RANGES = 4096
_ranges = np.zeros(2 + 2 * _MOST_RANGES, np.int64)
_violations = np.zeros(4, np.int64)
_nowhere = np.zeros(2 * VECTOR, np.uint8)
_guards: list[Any] = []
_PAIR_BYTES = 16
_MARKING = "special", "quotes", "backslashes", "no_digit"


def compiled(function: Function) -> Function:
    """Compile a function of addresses and numbers on first use, and keep its machine code."""
    return _made(function, is_inlined=False)


def inlined(function: Function) -> Function:
    """Compile a function that stands wherever it is called: a tenth of the time of a record would be calls."""
    return _made(function, is_inlined=True)


def compiled_beside(stamp: str) -> Callable[[Function], Function]:
    """Return what compiles functions of another room on first use, and keeps their machine code beside the kernel's.

    Args:
        stamp: tells one source of that room's machine code from another.
    """

    class OtherLocator(Locator):
        """Has machine code kept as long as the source of the other room is the same too."""

        def get_source_stamp(self) -> str:
            return f"{super().get_source_stamp()} {stamp}"

    return partial(_made, is_inlined=False, locator=OtherLocator)


def _made(function: Function, *, is_inlined: bool, locator: type[Locator] = Locator) -> Function:
    dispatcher: Any = njit(function, nogil=True, error_model="numpy", forceinline=is_inlined and not IS_CHECKED)
    return dispatcher if IS_CHECKED else keep(dispatcher, locator)  # type: ignore[no-any-return]  # numba has no types for it


def allow(ranges: list[tuple[int, int]]) -> None:
    """Name the ranges that a checked build may touch, as addresses of first and one past last byte.

    Raises:
        ValueError: they are more than a checked build can hold.
    """
    if len(ranges) > _MOST_RANGES:
        raise ValueError(f"{len(ranges)} ranges are more than {_MOST_RANGES}")
    _ranges[0] = len(ranges)
    for number, (start, stop) in enumerate(ranges):
        _ranges[2 + 2 * number : 4 + 2 * number] = start, stop


def violations() -> tuple[int, int, int]:
    """Return how many accesses lay outside of what is allowed, and address and size of the last."""
    return int(_violations[0]), int(_violations[1]), int(_violations[2])


def _looked_up() -> dict[str, Any]:
    """Make the accesses of the checked build: one outside of what is allowed goes to a place that nobody reads.

    The look-up is called by its address, as the compiler would take minutes if it stood in each of hundreds of places.
    """
    ranges, outside = int(_ranges.ctypes.data), int(_violations.ctypes.data)
    zeros, waste = int(_nowhere.ctypes.data), int(_nowhere.ctypes.data) + _nowhere.nbytes // 2
    load, put = instructions.load64, instructions.store64

    def looked_up(nowhere: int) -> Any:
        def allowed(address: int, size: int) -> int:
            for number in range(load(ranges)):
                place = ranges + (number + 1) * _PAIR_BYTES
                if load(place) <= address and address + size <= load(place + 8):
                    return address
            put(outside, load(outside) + 1)
            put(outside + 8, address)
            put(outside + 16, size)
            return nowhere

        function = cfunc("int64(int64, int64)")(allowed)
        _guards.append(function)
        return instructions.through(int(function.address or 0))

    source, target = looked_up(zeros), looked_up(waste)

    def reading(access: Any, size: int) -> Any:
        @njit(nogil=True)
        def checked(address: int) -> int:
            return access(source(address, size))  # type: ignore[no-any-return]

        return checked

    def writing(access: Any, size: int) -> Any:
        @njit(nogil=True)
        def checked(address: int, value: int) -> int:
            return access(target(address, size), value)  # type: ignore[no-any-return]

        return checked

    @njit(nogil=True)
    def copying(to: int, since: int) -> int:
        instructions.copy_vector(target(to, VECTOR), source(since, VECTOR))
        return to

    @njit(nogil=True)
    def comparing(one: int, other: int) -> int:
        return instructions.different(source(one, VECTOR), source(other, VECTOR))  # type: ignore[no-any-return]

    return {
        "different": comparing,
        "load8": reading(instructions.load8, 1),
        "load64": reading(load, 8),
        **{name: reading(getattr(instructions, name), VECTOR) for name in _MARKING},
        "store8": writing(instructions.store8, 1),
        "store32": writing(instructions.store32, 4),
        "store64": writing(put, 8),
        "copy_vector": copying,
    }


_accesses: dict[str, Any] = _looked_up() if IS_CHECKED else vars(instructions)
load8: Load = _accesses["load8"]
load64: Load = _accesses["load64"]
special: Load = _accesses["special"]
quotes: Load = _accesses["quotes"]
backslashes: Load = _accesses["backslashes"]
no_digit: Load = _accesses["no_digit"]
store8: Store = _accesses["store8"]
store32: Store = _accesses["store32"]
store64: Store = _accesses["store64"]
copy_vector: Store = _accesses["copy_vector"]
different: Store = _accesses["different"]
first_bit: Load = instructions.first_bit
count_bits: Load = instructions.count_bits
hundredth: Load = instructions.hundredth


@compiled
def copy_without(target: int, source: int, dropped: int) -> int:
    """Copy one vector without the bytes that are marked: what is behind each of them moves up over it.

    Up to ``VECTOR`` bytes behind both vectors are touched. Returns the target.
    """
    copy_vector(target, source)
    gone = 0
    while dropped != 0:
        place = first_bit(dropped)
        copy_vector(target + place - gone, source + place + 1)
        gone += 1
        dropped &= dropped - 1
    return target


@compiled
def copy(target: int, source: int, size: int) -> int:
    """Copy bytes in whole vectors, so that up to ``VECTOR`` bytes behind both ends are touched; return the end."""
    copy_vector(target, source)
    done = VECTOR
    while done < size:
        copy_vector(target + done, source + done)
        done += VECTOR
    return target + size


@compiled
def copy_fixed(target: int, source: int, size: int) -> int:
    """Copy bytes by twos of vectors, as most fixed text is longer than one; twice ``VECTOR`` behind may be touched."""
    copy_vector(target, source)
    copy_vector(target + VECTOR, source + VECTOR)
    done = 2 * VECTOR
    while done < size:
        copy_vector(target + done, source + done)
        copy_vector(target + done + VECTOR, source + done + VECTOR)
        done += 2 * VECTOR
    return target + size


@compiled
def is_same(one: int, other: int, size: int) -> bool:
    """Compare bytes exactly."""
    done = 0
    while done + 8 <= size:
        if load64(one + done) != load64(other + done):
            return False
        done += 8
    while done < size:
        if load8(one + done) != load8(other + done):
            return False
        done += 1
    return True
