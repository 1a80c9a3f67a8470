"""The mapping table as Parquet."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.paths import escape
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_documents import one_to_one
from tests.helpers.odd_names import HOSTILE
from tests.helpers.outside import python_with, said_by


def rows_of_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", errors="surrogatepass", newline="") as file:
        return list(csv.reader(file))


def test_the_table_is_that_of_csv_and_says_which_state_it_shows(mapped: Workbench, tmp_path: Path) -> None:
    for name in ("csv", "parquet"):
        export(mapped.document, EXPORTS[name], tmp_path / name)
    frame = pd.read_parquet(tmp_path / "parquet")
    assert [list(frame.columns), *frame.to_numpy().tolist()] == rows_of_csv(tmp_path / "csv")
    told = json.loads(pq.read_schema(tmp_path / "parquet").metadata[b"metl"])
    assert (told["state"], told["hash"]) == (mapped.document.state, state_hash(mapped.document))
    before = (tmp_path / "parquet").read_bytes()
    export(mapped.document, EXPORTS["parquet"], tmp_path / "parquet")
    assert (tmp_path / "parquet").read_bytes() == before


def test_a_project_without_a_mapping_gives_a_table_without_rows(workbench: Workbench, tmp_path: Path) -> None:
    export(workbench.document, EXPORTS["parquet"], tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "out.parquet").names[0] == "schema"


_DUCKDB = """
import json, sys, duckdb
query = "SELECT attribute, cdm_attribute, comment FROM read_parquet(?)"
print(json.dumps(duckdb.execute(query, [sys.argv[1]]).fetchall()))
"""


def test_another_program_reads_hostile_names_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    done = export(one_to_one(HOSTILE, "why; \n=1"), EXPORTS["parquet"], path)
    assert "no Unicode text stand as escapes" in done.says[-1]
    told = json.loads(said_by(python_with("duckdb==1.4.*"), _DUCKDB, path))
    written = {escape(name) if name != "\ud800" else "\\ud800" for name in HOSTILE}
    assert {source for source, _, _ in told} == {target for _, target, _ in told} == written
    assert {comment for _, _, comment in told} == {"why; \n=1"}
