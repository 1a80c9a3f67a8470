"""Targets of the sample's model, loaded with a few messages: what the Warehouse page shows of real files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from metl_gui.core.dimensional.rows.messages import Message, Position
from metl_gui.ui.shell.window import Window
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.loader import load_parts
from metl_gui.warehouse.target_model import Owner
from metl_gui.workbench.loads.warehouse_loads import model_shapes
from tests.unit.warehouse.worlds import at, part

PERSON, ORDERS = "fx.customers.person", "fx.payments.orders"
LOAD = "20260101-000000-abc123"
CUSTOMER = {"customer_id": 7, "name_family": "Dubois", "address_country": "CZ"}
PAYMENT = {"payment_id": 1, "payer_id": "C-7", "amount": "12.50", "booked_at": at(5), "status": "booked"}


def loaded_customer(window: Window, folder: Path) -> str:
    """Return a target that holds one customer, mapped by version 2 of a schema of the sample."""
    came = Message(PERSON, '{"customer_id":7}', "p1", "c", CUSTOMER, 0, Position("people", 0, 4), at(1), at(1))
    return loaded(window, folder, customer=[came])


def loaded_payments(window: Window, folder: Path, payers: Sequence[str] = ("C-7",)) -> str:
    """Return a target that holds one customer, 7, and payments from 1 on, of these payers and booked an hour each."""
    came = Message(PERSON, '{"customer_id":7}', "p1", "c", CUSTOMER, 0, Position("people", 0, 4), at(1), at(1))
    payments = [
        Message(
            ORDERS,
            f'{{"id":{number}}}',
            f"p{number}",
            "c",
            {**PAYMENT, "payment_id": number, "payer_id": payer, "booked_at": at(4 + number)},
            0,
            Position("orders", 1, 10 + number),
            at(4 + number),
            at(4 + number),
        )
        for number, payer in enumerate(payers, 1)
    ]
    return loaded(window, folder, customer=[came], payment=payments)


def loaded(window: Window, folder: Path, **messages: Sequence[Message]) -> str:
    """Return a target that holds messages of entities, each with the columns of its first one."""
    workbench = window.project.workbench
    assert workbench is not None
    tables = model_shapes(workbench.document)
    path = folder / "loaded.duckdb"
    with DuckDb(path) as opened:
        parts = []
        for entity, some in messages.items():
            history = tables.histories[entity]
            columns = tuple(one for one in history.columns if one.name in some[0].values)
            parts.append(part(folder, entity, some, msgspec.structs.replace(history, columns=columns)))
        load_parts(opened, tables, parts, LOAD, Owner(project=workbench.project_id, mode="test"))
        opened.run("UPDATE metl_history_customer SET schema_version = '2', entity_version = '2.0.0'")
        opened.run("UPDATE metl_history_payment SET schema_version = '4', entity_version = '2.0.0'")
    return f"duckdb:{path}"
