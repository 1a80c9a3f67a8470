"""Messages without schemas against versions that the project has already."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.trees.nodes import Side
from metl_gui.packaged import sample_projects
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.session import Workbench


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Workbench]:
    with Workbench.create(tmp_path / "empty.metl") as opened:
        yield opened


def test_rows_without_schema_add_no_version_where_a_declared_one_has_their_paths(empty: Workbench) -> None:
    fx = sample_projects() / "fx"
    import_sources(empty, Side.EXTRACTION, [fx / "schemas", fx / "waiting"])
    result = import_sources(empty, Side.EXTRACTION, [fx / "cdc"])
    assert [(added.name, added.attributes) for added in result.added] == [
        ("fx.accounts.account", 10),  # a column that no schema of the sample has
        ("fx.treasury.deal", 1),
    ]
    sources = {added.source for added in result.added} | {refusal.source for refusal in result.refused}
    assert sources == {str(fx / "cdc" / "hostile.jsonl")}


def test_importing_inferred_rows_again_changes_nothing(empty: Workbench) -> None:
    ledger = sample_projects() / "fx" / "cdc" / "ledger.jsonl"
    first = import_sources(empty, Side.EXTRACTION, [ledger])
    assert len(first.added) > 3
    again = import_sources(empty, Side.EXTRACTION, [ledger])
    assert not again.added
    assert again.state == first.state
