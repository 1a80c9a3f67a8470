"""Machine instructions that numba has no words for, as functions that become one instruction each.

They take addresses, or floating-point numbers of 64 bits, each given and returned as the bits it is made of.

Source: LLVM's language reference; vectors of 16 bytes are one register on every processor that numba knows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Emit: TypeAlias = Callable[[Any, Any], Any]
"""Writes instructions by a builder for the values of the arguments; returns the value of the result."""

VECTOR = 16
"""Bytes looked at in one step."""

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_BYTES = ir.VectorType(_I8, VECTOR)


def of_one(emit: Emit) -> Any:
    """Make a function of one number."""

    def typed(_context: Any, _first: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return emit(builder, values)

        return types.int64(types.int64), generate

    return intrinsic(typed)


def of_two(emit: Emit) -> Any:
    """Make a function of two numbers."""

    def typed(_context: Any, _first: Any, _second: Any) -> Any:
        def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            return emit(builder, values)

        return types.int64(types.int64, types.int64), generate

    return intrinsic(typed)


def _place(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, kind.as_pointer())


def _load(kind: Any) -> Any:
    def emit(builder: Any, values: Any) -> Any:
        found = builder.load(_place(builder, values[0], kind), align=1)
        return found if kind == _I64 else builder.zext(found, _I64)

    return of_one(emit)


def _store(kind: Any) -> Any:
    def emit(builder: Any, values: Any) -> Any:
        value = values[1] if kind == _I64 else builder.trunc(values[1], kind)
        builder.store(value, _place(builder, values[0], kind), align=1)
        return values[1]

    return of_two(emit)


def _vector(builder: Any, address: Any) -> Any:
    return builder.load(_place(builder, address, _BYTES), align=1)


def _same(value: int) -> Any:
    return ir.Constant(_BYTES, [ir.Constant(_I8, value)] * VECTOR)


def _mask(builder: Any, flags: Any) -> Any:
    return builder.zext(builder.bitcast(flags, ir.IntType(VECTOR)), _I64)


def _emit_special(builder: Any, values: Any) -> Any:
    found = _vector(builder, values[0])
    quote = builder.icmp_unsigned("==", found, _same(ord('"')))
    backslash = builder.icmp_unsigned("==", found, _same(ord("\\")))
    # As signed numbers, control bytes and all beyond ASCII are less than a space.
    other = builder.icmp_signed("<", found, _same(ord(" ")))
    return _mask(builder, builder.or_(builder.or_(quote, backslash), other))


def _marking(letter: str) -> Any:
    def emit(builder: Any, values: Any) -> Any:
        return _mask(builder, builder.icmp_unsigned("==", _vector(builder, values[0]), _same(ord(letter))))

    return of_one(emit)


def _emit_no_digit(builder: Any, values: Any) -> Any:
    shifted = builder.sub(_vector(builder, values[0]), _same(ord("0")))
    return _mask(builder, builder.icmp_unsigned(">", shifted, _same(9)))


def _emit_copy(builder: Any, values: Any) -> Any:
    builder.store(_vector(builder, values[1]), _place(builder, values[0], _BYTES), align=1)
    return values[0]


def _emit_different(builder: Any, values: Any) -> Any:
    return _mask(builder, builder.icmp_unsigned("!=", _vector(builder, values[0]), _vector(builder, values[1])))


def _emit_hundredth(builder: Any, values: Any) -> Any:
    return builder.udiv(values[0], ir.Constant(_I64, 100))


def _emit_count_bits(builder: Any, values: Any) -> Any:
    return builder.ctpop(values[0])


def _emit_first_bit(builder: Any, values: Any) -> Any:
    return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))


def through(address: int) -> Any:
    """Return the function of two numbers whose machine code lies at an address; it is called and never inlined."""

    def emit(builder: Any, values: Any) -> Any:
        kind = ir.FunctionType(_I64, [_I64, _I64])
        return builder.call(builder.inttoptr(ir.Constant(_I64, address), kind.as_pointer()), list(values))

    return of_two(emit)


load8, load64 = _load(_I8), _load(_I64)
store8, store32, store64 = _store(_I8), _store(_I32), _store(_I64)

special = of_one(_emit_special)
"""Marks quotes, backslashes, control bytes and what is not ASCII in the vector at an address, the first in bit 0."""

quotes, backslashes = _marking('"'), _marking("\\")
"""Mark the quotes, or the backslashes, in the vector at an address, its first byte in bit 0."""

no_digit = of_one(_emit_no_digit)
"""Marks the bytes that are no decimal digits in the vector at an address, its first byte in bit 0."""

copy_vector = of_two(_emit_copy)
"""Copies one vector to the first address from the second."""

different = of_two(_emit_different)
"""Marks the bytes in which the vectors at two addresses differ, the first in bit 0."""

hundredth = of_one(_emit_hundredth)
"""Divides a number that is not negative by 100; numba's own division asks for signs."""

count_bits = of_one(_emit_count_bits)
"""Returns how many bits of a number are set."""

first_bit = of_one(_emit_first_bit)
"""Returns the number of the lowest bit that is set in a number that is not 0."""


_INT64, _DOUBLE = ir.IntType(64), ir.DoubleType()


def _real(builder: Any, bits: Any) -> Any:
    return builder.bitcast(bits, _DOUBLE)


def _emit_product(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.fmul(_real(builder, values[0]), _real(builder, values[1])), _INT64)


def _emit_quotient(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.fdiv(_real(builder, values[0]), _real(builder, values[1])), _INT64)


def _emit_nearest(builder: Any, values: Any) -> Any:
    half = ir.Constant(_DOUBLE, 0.5)
    return builder.fptosi(builder.fadd(_real(builder, values[0]), half), _INT64)


def _emit_real_of(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.sitofp(values[0], _DOUBLE), _INT64)


product = of_two(_emit_product)
"""Multiplies two numbers."""

quotient = of_two(_emit_quotient)
"""Divides the first number by the second."""

nearest = of_one(_emit_nearest)
"""Returns the whole number nearest to one that is not negative and below 2^62."""

real_of = of_one(_emit_real_of)
"""Returns the bits of a whole number."""
