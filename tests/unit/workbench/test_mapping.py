"""The mapping table: elements in, conflicts by line."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from metl_gui.core.edits.settings import AddAlias
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.project.table_columns import TableColumns
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import SchemaError
from metl_gui.registry.tables.mapping_table import MappingRow, MappingTable
from metl_gui.workbench.importing.foreign_table import foreign_table
from metl_gui.workbench.mapping import table as mapping_tables
from metl_gui.workbench.mapping.search import forward
from metl_gui.workbench.mapping.table import ColumnTable, MapMode, MapPlan, import_mapping
from metl_gui.workbench.review.decisions import retire
from metl_gui.workbench.session import Workbench
from tests.helpers.world import World

from .conftest import HEADER, declare, write_table


def test_one_element_from_a_table_is_one_in_the_history(workbench: Workbench, tmp_path: Path) -> None:
    import_mapping(workbench, write_table(tmp_path, "fx.pay.orders,1,id,payment,1,payment_id"))
    assert workbench.undo_title() == "Map 1 element from mapping.csv"


def test_a_table_is_one_state_and_one_undo_step(workbench: Workbench, tmp_path: Path) -> None:
    empty = state_hash(workbench.document)
    table = write_table(tmp_path, "fx.pay.orders,1,id,payment,1,payment_id", "fx.pay.orders,1,amount,refund,1,amount")
    result = import_mapping(workbench, table)
    assert result.as_json() == {
        "state": 5,
        "set": 2,
        "unchanged": 0,
        "conflicts": [],
        "dropped": [],
        "left": [],
        "dry_run": False,
    }
    assert workbench.undo_title() == "Map 2 elements from mapping.csv"
    workbench.undo()
    assert state_hash(workbench.document) == empty


def test_what_is_set_already_is_counted_and_makes_no_state(mapped: Workbench, tmp_path: Path) -> None:
    again = import_mapping(mapped, tmp_path / "mapping.csv")
    assert (again.state, again.set, again.unchanged) == (5, 0, 6)


def test_unknown_names_are_listed_with_lines_and_near_names(workbench: Workbench, tmp_path: Path) -> None:
    table = write_table(
        tmp_path,
        "fx.pay.orders,1,id,payment,1,payment_id",
        "fx.pay.order,1,id,payment,1,payment_id",
        "fx.pay.orders,7,id,payment,1,payment_id",
        "fx.pay.orders,1,idd,payment,1,payment_id",
        "fx.pay.orders,1,id,paymant,1,payment_id",
        "fx.pay.orders,1,id,payment,1,payer",
        "fx.pay.orders,1,,payment,1,payer_id",
    )
    result = import_mapping(workbench, table)
    assert not result.is_written
    assert workbench.document.state == 4
    assert [conflict.line for conflict in result.conflicts] == [3, 4, 5, 6, 7, 8]
    reasons = [conflict.reason for conflict in result.conflicts]
    assert "Did you mean fx.pay.orders" in reasons[0]
    assert "It has 1" in reasons[1]
    assert "Did you mean id" in reasons[2]
    assert "Did you mean payment" in reasons[3]
    assert "Did you mean payer_id" in reasons[4]
    assert "attribute is empty" in reasons[5]


def test_every_line_of_a_block_that_is_not_1_to_1_is_named(mapped: Workbench, tmp_path: Path) -> None:
    table = write_table(
        tmp_path,
        "fx.pay,1,id,refund,1,refund_id",
        "fx.pay,1,orders,refund,1,refund_id",
        "fx.pay.orders,1,legacy,refund,1,amount",
        name="second.csv",
    )
    result = import_mapping(mapped, table)
    assert [conflict.line for conflict in result.conflicts] == [2, 3, 4]
    assert "orders to refund_id (line 3)" in result.conflicts[0].reason
    assert "amount to amount (the project)" in result.conflicts[2].reason
    assert mapped.document.state == 5
    assert result.set == 0


def test_taking_the_proposal_keeps_the_largest_part_and_names_what_it_dropped(
    workbench: Workbench, tmp_path: Path
) -> None:
    table = write_table(
        tmp_path,
        "fx.pay.orders,1,id,payment,1,payment_id",
        "fx.pay.orders,1,customer_id,payment,1,payment_id",
        "fx.pay.orders,1,customer_id,payment,1,payer_id",
    )
    result = import_mapping(workbench, table, take_proposal=True)
    assert result.is_written
    assert (result.set, [dropped.line for dropped in result.dropped]) == (2, [3])
    assert len(forward(workbench.document, "fx.pay.orders").results) == 2


def test_replace_makes_the_named_blocks_equal_to_the_table(mapped: Workbench, tmp_path: Path) -> None:
    table = write_table(tmp_path, "fx.pay.orders,1,customer_id,payment,1,payment_id", name="second.csv")
    result = import_mapping(mapped, table, MapMode.REPLACE)
    assert (result.set, result.unchanged) == (5, 0)
    left = [(a.block.entity, a.element.from_path) for a in forward(mapped.document, "fx.pay.orders").results]
    assert sorted(left) == [("payment", "customer_id"), ("refund", "amount"), ("refund", "id")]


def test_unset_clears_the_listed_elements(mapped: Workbench, tmp_path: Path) -> None:
    table = write_table(
        tmp_path,
        "fx.pay.orders,1,id,payment,1,payment_id",
        "fx.pay.orders,1,legacy,refund,1,amount",
        name="second.csv",
    )
    result = import_mapping(mapped, table, MapMode.UNSET)
    assert (result.set, result.unchanged) == (1, 1)
    assert len(forward(mapped.document, "fx.pay.orders").results) == 5


def test_a_dry_run_counts_and_writes_nothing(workbench: Workbench, tmp_path: Path) -> None:
    table = write_table(tmp_path, "fx.pay.orders,1,id,payment,1,payment_id")
    result = import_mapping(workbench, table, dry_run=True)
    assert (result.set, result.state, result.is_written) == (1, 4, False)
    assert workbench.document.matrix.ones == 0


def test_an_older_entity_version_is_a_conflict_that_names_the_newest(workbench: Workbench, tmp_path: Path) -> None:
    workbench.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "channel")))
    table = write_table(tmp_path, "fx.pay.orders,1,id,payment,1,payment_id")
    (conflict,) = import_mapping(workbench, table).conflicts
    assert conflict.line == 2
    assert "version 2" in conflict.reason


def test_a_status_column_can_leave_a_block_unconfirmed(workbench: Workbench, tmp_path: Path) -> None:
    table = tmp_path / "status.csv"
    table.write_text(
        "schema;schema_version;attribute;entity;entity_version;cdm_attribute;status\n"
        "fx.pay.orders;1;id;payment;1;payment_id;unconfirmed\n"
        "fx.pay.orders;1;id;refund;1;refund_id;sure\n",
        encoding="utf-8-sig",
    )
    (conflict,) = import_mapping(workbench, table).conflicts
    assert conflict.line == 3
    assert "confirmed" in conflict.reason
    table.write_text(table.read_text(encoding="utf-8-sig").replace("sure", ""), encoding="utf-8")
    import_mapping(workbench, table)
    statuses = {a.block.entity: a.status for a in forward(workbench.document, "fx.pay.orders").results}
    assert statuses == {"payment": Status.UNCONFIRMED, "refund": Status.CONFIRMED}


def test_a_table_that_is_none_raises_and_writes_nothing(workbench: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_bytes(b"schema,schema_version\xff\n")
    with pytest.raises(SchemaError, match="UTF-8"):
        import_mapping(workbench, path)
    with pytest.raises(SchemaError):
        import_mapping(workbench, tmp_path / "missing.csv")
    assert workbench.document.state == 4


def test_a_comment_column_is_kept_with_the_block(workbench: Workbench, tmp_path: Path) -> None:
    table = tmp_path / "comments.csv"
    rows = "fx.pay.orders,1,id,payment,1,payment_id,unconfirmed,\nfx.pay.orders,1,amount,payment,1,amount,,ask Ann\n"
    table.write_text(HEADER.strip() + ",status,comment\n" + rows, encoding="utf-8")
    import_mapping(workbench, table)
    (block,) = workbench.document.matrix.blocks()
    assert (block.status, block.comment) == (Status.UNCONFIRMED, "ask Ann")
    table.write_text(table.read_text().replace("ask Ann", "ask Bob"), encoding="utf-8")
    result = import_mapping(workbench, table)
    assert (result.set, result.unchanged, result.state) == (0, 2, 6)
    (block,) = workbench.document.matrix.blocks()
    assert (block.status, block.comment) == (Status.UNCONFIRMED, "ask Bob")
    assert import_mapping(workbench, table).state == 6


def test_rows_that_say_confirmed_confirm_a_block_whose_elements_are_set_already(
    workbench: Workbench, tmp_path: Path
) -> None:
    table = tmp_path / "status.csv"
    row = "fx.pay.orders,1,id,payment,1,payment_id,unconfirmed,\n"
    table.write_text(HEADER.strip() + ",status,comment\n" + row, encoding="utf-8")
    import_mapping(workbench, table)
    table.write_text(table.read_text().replace("unconfirmed", "confirmed"), encoding="utf-8")
    assert import_mapping(workbench, table).state == 6
    (block,) = workbench.document.matrix.blocks()
    assert block.status is Status.CONFIRMED


def test_a_table_settles_only_the_lost_elements_it_covers(mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "amount", "customer_ref")))
    table = write_table(tmp_path, "fx.pay.orders,2,customer_ref,payment,1,payer_id", name="second.csv")
    import_mapping(mapped, table)
    block = next(b for b in mapped.document.matrix.blocks() if b.open_losses)
    assert block.status is Status.NEEDS_REVIEW
    assert [loss.from_path for loss in block.open_losses] == ["legacy"]


def test_a_table_maps_a_retired_block_again(mapped: Workbench, tmp_path: Path) -> None:
    retire(mapped, "fx.pay.orders@1:refund@1")
    import_mapping(mapped, write_table(tmp_path, "fx.pay.orders,1,id,refund,1,refund_id", name="second.csv"))
    fed = [a.status for a in forward(mapped.document, "fx.pay.orders").results if a.block.entity == "refund"]
    assert fed == [Status.CONFIRMED]


THEIRS = "table,field,target entity,target field,owner\n"


def theirs(folder: Path, *lines: str) -> Path:
    path = folder / "theirs.csv"
    path.write_text(THEIRS + "".join(f"{line},me\n" for line in lines))
    return path


def test_a_table_of_another_shape_maps_all_versions_to_the_newest_of_the_entity(
    workbench: Workbench, tmp_path: Path
) -> None:
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "customer_id", "amount")))
    workbench.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_id", "amount")))
    path = theirs(tmp_path, "fx.pay.orders,id,payment,payment_id", "fx.pay.orders,legacy,,")
    table = foreign_table(path, workbench.document)
    assert table is not None
    assert table.guess == TableColumns("table", "", "field", "target entity", "", "target field")
    result = import_mapping(workbench, ColumnTable(path, table.guess))
    assert (result.set, result.conflicts, result.left) == (2, (), ())
    assert workbench.undo_title() == "Map 2 elements from theirs.csv"
    found = forward(workbench.document, "fx.pay.orders.id").results
    assert {(each.block.version, each.block.entity_version) for each in found} == {("1", "2"), ("2", "2")}


def test_a_table_of_another_shape_with_a_name_that_is_not_known_writes_nothing(
    workbench: Workbench, tmp_path: Path
) -> None:
    path = theirs(tmp_path, "fx.pay.orders,id,payment,payment_id", "fx.pay.orders,idd,payment,amount")
    columns = TableColumns("table", "", "field", "target entity", "", "target field")
    result = import_mapping(workbench, ColumnTable(path, columns))
    assert [conflict.line for conflict in result.conflicts] == [3]
    assert workbench.document.matrix.ones == 0


def test_a_table_with_the_columns_of_a_mapping_is_none_of_another_shape(mapped: Workbench, tmp_path: Path) -> None:
    assert foreign_table(tmp_path / "mapping.csv", mapped.document) is None


@given(
    seed=st.integers(0, 1 << 30), mode=st.sampled_from(MapMode), take_proposal=st.booleans(), all_versions=st.booleans()
)
@example(seed=2061, mode=MapMode.ADD, take_proposal=False, all_versions=False)
def test_lines_of_one_block_mean_together_what_each_means_by_itself(
    seed: int, mode: MapMode, take_proposal: bool, all_versions: bool
) -> None:
    world, random = World(), Random(seed)
    world.entity("e", "1", "x", "y", "z")
    world.schema("s", "1", "a", "b", "c")
    world.schema("s", "2", "a", "b", "d")
    world.schema("t", "1", "a")
    schema = world.document.extraction.named("s")
    assert schema is not None
    world.do(AddAlias(Side.EXTRACTION, schema.id, "old"))
    names = (("s", "t", "s", "old", "u"), ("1", "2", "1", "9", "*"), ("a", "b", "c"), ("e",), ("1", "1", "1", "2"))
    rows = [
        MappingRow._make(
            (
                at + 2,
                *(random.choice(each) for each in names),
                random.choice(("x", "y", "z", "q")),
                random.choice(("", "", "confirmed", "unconfirmed", "odd") if seed % 2 else ("",)),
                random.choice(("", " ", "why")),
            )
        )
        for at in range(random.randrange(1, 12))
    ]
    if seed % 3:
        rows.sort(key=lambda row: row[1:6])
        rows = [row._replace(line=at + 2) for at, row in enumerate(rows)]
    table = MappingTable(tuple(rows), ())

    def planned() -> MapPlan:
        return mapping_tables.plan_mapping(world.document, table, mode, take_proposal, all_versions)

    together = planned()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapping_tables, "_BLOCK_NAMES", itemgetter(0))
        assert planned() == together


def test_of_lines_that_name_one_block_in_several_ways_the_earlier_comes_first() -> None:
    world = World()
    world.entity("e", "1", "x", "y")
    world.schema("s", "1", "a", "b", "c")
    schema = world.document.extraction.named("s")
    assert schema is not None
    world.do(AddAlias(Side.EXTRACTION, schema.id, "old"))

    def planned(*lines: tuple[str, str, str, str, str]) -> MapPlan:
        rows = [
            MappingRow(at, name, label, source, "e", "1", target, "", comment)
            for at, (name, label, source, target, comment) in enumerate(lines, 2)
        ]
        return mapping_tables.plan_mapping(world.document, MappingTable(tuple(rows), ()), MapMode.ADD)

    (edit,) = planned(("s", "1", "a", "x", ""), ("old", "1", "b", "y", "why"), ("s", "1", "a", "x", "later")).edits
    assert (len(edit.ones), edit.comment) == (2, "why")
    ranges = planned(("s", "*", "a", "x", ""), ("old", "*", "b", "y", ""), ("s", "*", "c", "y", ""))
    assert [each.line for each in ranges.left] == [4]
