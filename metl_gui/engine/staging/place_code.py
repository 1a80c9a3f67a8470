"""The machine code that reads places of messages; see ``engine.kernel.row_code``."""

from __future__ import annotations

from metl_gui.engine.kernel.row_code import RowSource, row_code

SOURCE = RowSource("metl_gui.engine.staging", "place_values")
MACHINE = row_code(SOURCE)
