"""What machine code makes of the common values of a column.

The numbers are those that ``column_values`` goes by; this module loads no compiler.
"""

from __future__ import annotations

import pyarrow as pa

from metl_gui.values import Value

JSON, TEXT, DIGITS, OTHER_DIGITS, DOUBLE, FLOAT = range(6)
"""Forms of values that are gathered as text: as they stand; texts without escapes; numbers as they are written, and of
these those that a decimal of some scale would not write so; those that a fraction in binary floating point of 64 or 32
bits surely holds."""

WHOLE, TRUTH, DECIMAL = range(6, 9)
"""Forms of values that are read: whole numbers of 64 bits; true and false; decimals."""

NO_SCALE = -1


class ValueForm(Value):
    """What is made of values.

    Args:
        kind: one of the numbers above.
        type: of the array.
        scale: of decimals.
        has_texts: values may be texts. Those of a decimal are bytes in base64 that count in its scale; as digits they
            count as null.
    """

    kind: int
    type: pa.DataType
    scale: int = NO_SCALE
    has_texts: bool = False


AS_JSON, AS_TEXT, AS_DIGITS = (ValueForm(kind, pa.string()) for kind in (JSON, TEXT, DIGITS))
SURE_DOUBLES, SURE_FLOATS = (ValueForm(kind, pa.string()) for kind in (DOUBLE, FLOAT))
WHOLE_NUMBERS, TRUTHS = ValueForm(WHOLE, pa.int64()), ValueForm(TRUTH, pa.bool_())
