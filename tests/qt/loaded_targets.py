"""Targets of the sample's model, loaded with a few messages: what the Warehouse page shows of real files."""

from __future__ import annotations

from pathlib import Path

import msgspec

from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.ui.shell.window import Window
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from tests.unit.warehouse.worlds import at, part

PERSON = "fx.customers.person"
VALUES = {"customer_id": 7, "name_family": "Dubois", "address_country": "CZ"}


def loaded_customer(window: Window, folder: Path) -> str:
    """Return a target that holds one customer, mapped by version 2 of a schema of the sample."""
    workbench = window.project.workbench
    assert workbench is not None
    tables = model_shapes(workbench.document)
    customer = tables.histories["customer"]
    carried = msgspec.structs.replace(customer, columns=tuple(c for c in customer.columns if c.name in VALUES))
    place = Position("people", 0, 4)
    came = Message(PERSON, '{"customer_id":7}', "p1", "c", VALUES, 0, place, committed_at=at(1), seen_at=at(1))
    path = folder / "why.duckdb"
    with DuckDb(path) as opened:
        parts = [part(folder, "customer", [came], carried)]
        load_parts(opened, tables, parts, "load", Owner(project=workbench.project_id, mode="test"))
        opened.run("UPDATE metl_history_customer SET schema_version = '2', entity_version = '2.0.0'")
    return f"duckdb:{path}"
