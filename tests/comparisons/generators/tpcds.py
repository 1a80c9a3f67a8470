"""Write the tables of TPC-DS that hold versions as Parquet: ``tpcds.py FOLDER SCALE``."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
import duckdb_extension_tpcds

TABLES = ("item", "store", "call_center", "web_site", "web_page")


def main(folder: Path, scale: float) -> None:
    """Generate everything, and write what holds versions."""
    extension = next(Path(duckdb_extension_tpcds.__file__).parent.glob("extensions/*/tpcds.duckdb_extension"))
    with duckdb.connect() as connection:
        connection.load_extension(str(extension))
        connection.execute("CALL dsdgen(sf = ?)", [scale])
        for table in TABLES:
            connection.table(table).write_parquet(str(folder / f"{table}.parquet"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
