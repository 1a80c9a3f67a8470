"""What every value of the program derives from: frozen, compared by content, cheap to make and to load.

A value says its fields as a dataclass does::

    class Placement(Value):
        row: int
        column: int = 0

``Value, eq=False`` is compared by identity, ``order=True`` sorts by its fields, ``dict=True`` leaves room for cached
properties, ``weakref=True`` for weak references; ``msgspec.field`` makes defaults anew and
``msgspec.structs.replace`` a value that differs. Source: docs/architecture/decisions, "Values are structs".
"""

from __future__ import annotations

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """A frozen value; what is written to files says its names itself and derives from ``msgspec.Struct``."""
