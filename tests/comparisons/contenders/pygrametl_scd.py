"""Bring batches of changes into a slowly changing dimension of pygrametl: batches as JSON in, its versions out."""

from __future__ import annotations

import json
import sqlite3
import sys
from typing import Any

import pygrametl
from pygrametl.tables import SlowlyChangingDimension


def main() -> None:
    """Read batches, load each, print the versions."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE person (person_key INTEGER, id INTEGER, city, valid_from, valid_to, version)")
    wrapper = pygrametl.ConnectionWrapper(connection, paramstyle="named")
    wrapper.setasdefault()
    dimension = SlowlyChangingDimension(
        name="person",
        key="person_key",
        attributes=["id", "city", "valid_from", "valid_to", "version"],
        lookupatts=["id"],
        versionatt="version",
        fromatt="valid_from",
        fromfinder=_since,
        toatt="valid_to",
        targetconnection=wrapper,
    )
    for batch in json.load(sys.stdin):
        for row in batch:
            dimension.scdensure(dict(row))
        wrapper.commit()
    print(json.dumps(connection.execute("SELECT city, valid_from, valid_to FROM person").fetchall()))


def _since(_connection: Any, row: dict[str, Any], _names: Any) -> Any:
    return row["since"]


if __name__ == "__main__":
    main()
