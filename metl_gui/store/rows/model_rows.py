"""Warehouse models in the project file: one row a model."""

from __future__ import annotations

import sqlite3

from metl_gui.core.changes.draft import Transition
from metl_gui.core.warehouse_model import Model, model_json, read_model_json


def write_models(connection: sqlite3.Connection, transition: Transition) -> None:
    """Write what an edit changed in warehouse models."""
    for change in transition.change.models:
        if change.after is None:
            connection.execute("DELETE FROM warehouse_models WHERE name = ?", (change.name,))
        else:
            row = change.name, model_json(change.after)
            connection.execute("INSERT OR REPLACE INTO warehouse_models VALUES (?, ?)", row)


def read_models(connection: sqlite3.Connection) -> tuple[Model, ...]:
    """Read all warehouse models, by name.

    Raises:
        ValueError: a model that stands under another name than its own.
    """
    rows = connection.execute("SELECT name, model FROM warehouse_models").fetchall()
    found = {name: read_model_json(text) for name, text in rows}
    if any(model.name != name for name, model in found.items()):
        raise ValueError("a warehouse model under the name of another")
    return tuple(model for _, model in sorted(found.items()))
