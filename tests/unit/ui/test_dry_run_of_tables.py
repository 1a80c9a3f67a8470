"""What the window's dry run says of the tables of a warehouse."""

from __future__ import annotations

from metl_gui.ui.drop.dry_run import details_of, heading_of, rows_of, text_of
from metl_gui.workbench.importing.dry_run import SourceDryRun
from metl_gui.workbench.importing.schema_import import AddedVersion
from metl_gui.workbench.importing.warehouse_effects import BrokenPart


def part(name: str, *, breaks_table: bool) -> BrokenPart:
    words = "no rows are made" if breaks_table else "it is null in new rows"
    kind = "key" if breaks_table else "column"
    return BrokenPart("fx", "payment", kind, name, "payment", name, "source", ("s",), "", "", breaks_table, words)


def trial(*parts: BrokenPart) -> SourceDryRun:
    added = AddedVersion("extraction", "s", "2", 3, "", ())
    return SourceDryRun(1, (added,), (), (), (), (), (), parts)


def test_parts_of_tables_are_rows_of_their_own_with_what_follows() -> None:
    found = trial(part("id", breaks_table=True), part("amount", breaks_table=False))
    (key, _), (column, broken) = rows_of(found)
    assert (key.title, key.facts) == ("payment · id", "no rows are made")
    assert "amount" in column.title
    assert details_of(broken).startswith("column amount of the table payment, warehouse model fx")
    assert heading_of(found) == "2 parts of warehouse tables would change"
    assert "it is null in new rows" in text_of(found)


def test_nothing_is_lost_where_no_table_changes_either() -> None:
    assert heading_of(trial()) == "Nothing would be lost"
