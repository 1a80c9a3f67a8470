"""Machine instructions for numbers of 64 bits with a fraction, each given and returned as the bits it is made of."""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from metl_gui.engine.kernel.compiled.instructions import of_one, of_two

_I64, _DOUBLE = ir.IntType(64), ir.DoubleType()


def _real(builder: Any, bits: Any) -> Any:
    return builder.bitcast(bits, _DOUBLE)


def _emit_product(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.fmul(_real(builder, values[0]), _real(builder, values[1])), _I64)


def _emit_quotient(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.fdiv(_real(builder, values[0]), _real(builder, values[1])), _I64)


def _emit_nearest(builder: Any, values: Any) -> Any:
    half = ir.Constant(_DOUBLE, 0.5)
    return builder.fptosi(builder.fadd(_real(builder, values[0]), half), _I64)


def _emit_real_of(builder: Any, values: Any) -> Any:
    return builder.bitcast(builder.sitofp(values[0], _DOUBLE), _I64)


product = of_two(_emit_product)
"""Multiplies two numbers."""

quotient = of_two(_emit_quotient)
"""Divides the first number by the second."""

nearest = of_one(_emit_nearest)
"""Returns the whole number nearest to one that is not negative and below 2^62."""

real_of = of_one(_emit_real_of)
"""Returns the bits of a whole number."""
