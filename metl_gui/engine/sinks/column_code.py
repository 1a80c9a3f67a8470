"""The machine code that reads values of columns; see ``engine.kernel.row_code``."""

from __future__ import annotations

from metl_gui.engine.kernel.row_code import RowSource, row_code

SOURCE = RowSource("metl_gui.engine.sinks", "column_values", ("value_forms",))
MACHINE = row_code(SOURCE)
