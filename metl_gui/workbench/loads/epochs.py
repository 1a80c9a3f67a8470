"""Say why the log of a schema went back: an epoch begins, or old messages were sent again.

Source: docs/reference/warehouse-model.md, "Epochs".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from metl_gui.core.dimensional.loads.load_report import LoadReport
from metl_gui.core.dimensional.rows.messages import Position
from metl_gui.errors import RunError
from metl_gui.formats.source_positions import transport_position
from metl_gui.values import Value
from metl_gui.warehouse.target_inputs import TargetInputs
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.target_documents import document_of
from metl_gui.workbench.loads.warehouse_loads import check_schema, target_tables
from metl_gui.workbench.session import Workbench


class EpochReport(Value):
    """What became of an answer.

    Args:
        schema: whose log went back.
        epoch: that begins; 0 where its log goes on.
        load: what became of the tables.
    """

    schema: str
    epoch: int
    load: LoadReport

    def as_json(self) -> dict[str, Any]:
        """Return the document of ``metl warehouse epoch``."""
        return {"schema": self.schema, "epoch": self.epoch, "tables": msgspec.to_builtins(self.load.tables)}


def begin_epoch(
    workbench: Workbench,
    target: str,
    schema: str,
    positions: Sequence[str],
    model: str = "",
    mode: str = "test",
    *,
    is_same: bool = False,
) -> EpochReport:
    """Say why the log of a schema went back, from some positions on.

    Args:
        workbench: the opened project; read only is enough.
        target: see ``find_target``; a new one is made, as its first load may have asked.
        schema: its name.
        positions: one a partition or file, as a load names them.
        model: name of the warehouse model; the only one by default.
        mode: of the runs that the target takes.
        is_same: old messages were sent again.

    Raises:
        EditError: there is no such model or schema, or the model has errors.
        RunError: a position is none.
        TargetError: an answer is known from there on; the target is as before.
    """
    document = document_of(workbench, mode)
    check_schema(document, schema)
    places = list(dict.fromkeys(map(_position, positions)))
    if len({place[:2] for place in places}) < len(places):
        raise RunError("A partition is named twice.", hint="Name the first position of each.")
    found, tables = target_tables(document, target, model)
    with found.open() as opened:
        loader = TargetInputs(opened, tables, Owner(project=workbench.project_id, mode=mode))
        epoch = loader.begin_epoch(schema, places, is_same=is_same)
    return EpochReport(schema, 0 if is_same else epoch, loader.report)


def _position(text: str) -> Position:
    found = transport_position(text)
    if found.log == text:
        raise RunError(
            f"{text} is no position.", hint="Give topic/partition/offset or file@offset, as a load names it."
        )
    return Position(*found)
