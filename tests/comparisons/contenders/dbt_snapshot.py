"""Bring batches of changes into a timestamp snapshot of dbt: batches as JSON in, its versions out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

_FILES = {
    "dbt_project.yml": "name: late\nversion: '1.0'\nprofile: late\nsnapshot-paths: [snapshots]\n",
    "profiles.yml": "late:\n  target: it\n  outputs:\n    it: {type: duckdb, path: late.duckdb, threads: 1}\n",
    "snapshots/person.sql": """{% snapshot person %}
{{ config(target_schema='main', unique_key='id', strategy='timestamp', updated_at='since') }}
select * from main.arrived
{% endsnapshot %}
""",
}
_QUIET = {"DO_NOT_TRACK": "1", "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
_VERSIONS = "SELECT city, strftime(dbt_valid_from, '%Y-%m-%d'), strftime(dbt_valid_to, '%Y-%m-%d') FROM main.person"


def main() -> None:
    """Read batches, take a snapshot of each, print the versions."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name, text in _FILES.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        for batch in json.load(sys.stdin):
            _arrive(folder, batch)
            command = [str(Path(sys.executable).parent / "dbt"), "--quiet", "snapshot", "--profiles-dir", "."]
            subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr, env=os.environ | _QUIET)
        with duckdb.connect(folder / "late.duckdb") as connection:
            print(json.dumps(connection.execute(_VERSIONS).fetchall()))


def _arrive(folder: Path, batch: list[dict[str, object]]) -> None:
    with duckdb.connect(folder / "late.duckdb") as connection:
        connection.execute("CREATE OR REPLACE TABLE arrived (id INTEGER, city VARCHAR, since TIMESTAMP)")
        connection.executemany("INSERT INTO arrived VALUES (?, ?, ?)", [list(row.values()) for row in batch])


if __name__ == "__main__":
    main()
