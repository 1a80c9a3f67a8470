"""Targets of warehouses as people write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.errors import RunError, UserError
from metl_gui.warehouse.databases.duckdb_target import DuckDb
from metl_gui.warehouse.databases.target import TargetError
from metl_gui.workbench.loads.targets import find_target


def test_a_file_is_named_by_its_path() -> None:
    assert find_target("warehouse:duckdb:some/fx.duckdb", "fx").path == Path("some/fx.duckdb")
    assert find_target("duckdb:fx.duckdb", "fx").place is None


def test_a_schema_of_a_database_is_named_behind_its_address_or_by_the_model() -> None:
    found = find_target("postgresql://me@db.example.com:6432/shop?schema=Sales%20EU", "fx")
    assert found.place is not None
    assert (found.place.host, found.place.port, found.place.database) == ("db.example.com", 6432, "shop")
    assert found.schema == "Sales EU"
    assert find_target("warehouse:postgresql://me@db.example.com/shop", "fx").schema == "fx"


@pytest.mark.parametrize(
    "text",
    [
        "fx.duckdb",
        "duckdb:",
        "duckdb::memory:",
        "duckdb:./:memory:?swap",
        "mysql://me:secret@db/shop",
        "postgresql://me:secret@db/shop",
        "postgresql://db/shop?schema=a&schema=b",
        "postgresql://db/shop?sslmode=disable",
        "postgresql://db/shop?schema=pg_catalog",
        f"postgresql://db/shop?schema={'ü' * 32}",
        "@nobody?schema=fx",
        "duckdb:~nobody of this name/fx.duckdb",
    ],
)
def test_what_is_no_target_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(UserError) as refused:
        find_target(text, "fx")
    assert "secret" not in str(refused.value)


def test_a_target_in_a_file_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    find_target(f"duckdb:{tmp_path}/new.duckdb", "fx").check()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_target() -> None:
    with pytest.raises(RunError, match="no target"):
        find_target("out", "fx")


def test_the_end_of_a_target_says_what_a_new_one_holds_of_masked_attributes(tmp_path: Path) -> None:
    plain = find_target(f"duckdb:{tmp_path}/new.duckdb?masked=plain", "fx")
    assert (plain.path, plain.masking()) == (tmp_path / "new.duckdb", "plain")
    assert find_target(f"duckdb:{tmp_path}/new.duckdb", "fx").masking() == "omit"
    both = find_target(f"duckdb:{tmp_path}/new.duckdb?masked=plain?swap", "fx")
    assert (both.path, both.masked, both.is_swapped) == (tmp_path / "new.duckdb", "plain", True)
    database = find_target("postgresql://me@db.example.com/shop?schema=eu&masked=plain", "fx")
    assert (database.schema, database.masked) == ("eu", "plain")
    with pytest.raises(RunError, match="masked=hidden"):
        find_target(f"duckdb:{tmp_path}/new.duckdb?masked=hidden", "fx")


def test_a_target_that_was_made_otherwise_is_not_taken_for_what_its_name_says(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with DuckDb(path) as opened:
        opened.run("CREATE TABLE metl_target (name VARCHAR, value VARCHAR)")
        opened.run("INSERT INTO metl_target VALUES ('masked', 'plain')")
    assert find_target(f"duckdb:{path}", "fx").masking() == "plain"
    with pytest.raises(TargetError, match="was made with masked=plain"):
        find_target(f"duckdb:{path}?masked=omit", "fx").masking()


@pytest.mark.parametrize(
    "end", ["?schema=a", "?swap&schema=a", "?schema=a?swap", "?schema=a&masked=plain", "?schema=a?masked=plain?swap"]
)
def test_what_files_do_not_have_is_no_part_of_their_names(end: str) -> None:
    with pytest.raises(RunError, match="end of the target cannot be read") as refused:
        find_target(f"duckdb:some/fx.duckdb{end}", "fx")
    assert "schema=" in refused.value.text
    assert find_target("duckdb:a=b?/what?.duckdb", "fx").path == Path("a=b?/what?.duckdb")
