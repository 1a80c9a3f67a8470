"""Bring batches of changes into a table that dlt merges as scd2: batches as JSON in, its versions out."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import dlt
import duckdb

_VERSIONS = """SELECT city, strftime(_dlt_valid_from, '%Y-%m-%d'), strftime(_dlt_valid_to, '%Y-%m-%d')
    FROM late.person ORDER BY _dlt_load_id"""


def main() -> None:
    """Read batches, merge each, print the versions."""
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "person.duckdb"
        pipeline = dlt.pipeline(
            "late",
            pipelines_dir=place,
            destination=dlt.destinations.duckdb(str(file)),
            dataset_name="late",
        )
        for batch in json.load(sys.stdin):
            pipeline.run(_resource(batch))
        with duckdb.connect(file) as connection:
            print(json.dumps(connection.execute(_VERSIONS).fetchall()))


def _resource(batch: list[dict[str, Any]]) -> Any:
    """Return a batch as dlt takes it: a version holds from the last time in the batch, not from that of the load."""
    merge = {"disposition": "merge", "strategy": "scd2", "boundary_timestamp": max(row["since"] for row in batch)}
    rows = [{"id": row["id"], "city": row["city"]} for row in batch]
    return dlt.resource(rows, name="person", merge_key="id", write_disposition=merge)


if __name__ == "__main__":
    main()
