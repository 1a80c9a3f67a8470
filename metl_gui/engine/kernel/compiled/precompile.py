"""Make all machine code by using it once on nothing."""

from __future__ import annotations

import numpy as np

from metl_gui.engine.kernel.compiled import layout as at
from metl_gui.engine.kernel.compiled.avro.programs import AVRO_WORDS
from metl_gui.engine.kernel.compiled.avro.text import write_records
from metl_gui.engine.kernel.compiled.lookup import hash_of, mix_pair, mix_program
from metl_gui.engine.kernel.compiled.matching.layout_tree import LayoutTree, padded
from metl_gui.engine.kernel.compiled.message_writer import map_records
from metl_gui.engine.kernel.compiled.tables import Tables, address_of
from metl_gui.engine.kernel.records import Records


def precompile() -> None:
    """Compile what Python calls, or load it where it was kept."""
    tables = Tables()
    tables.put(at.S_NEXT, 0)
    tables.put(at.S_LAST, 0)
    map_records(address_of(tables.state))
    hash_of(address_of(tables.state), 0)
    mix_pair(0, 0)
    mix_program(0, 0, 0, 0)
    none = Records.of((), "")
    LayoutTree().find(none, padded(none))
    write_records(address_of(np.zeros(AVRO_WORDS, np.int64)))
