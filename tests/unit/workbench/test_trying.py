"""A dry run: what schemas that are not live yet would do, with nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.entities import AddEntity
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.project.refusals import RefusedRename, RefusedRenames
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.importing.dry_run import SourceDryRun, try_reading, try_sources
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.review import decisions
from metl_gui.workbench.session import Workbench

from .conftest import declare, write_table
from .test_importing import write_schema

NO_LEGACY = declare("fx.pay.orders", "2", "id", "customer_ref", "amount")


def tried(workbench: Workbench, *declarations: VersionDeclaration, side: Side = Side.EXTRACTION) -> SourceDryRun:
    return try_reading(workbench.document, side, ReaderResult(declarations))


def test_a_dry_run_names_every_element_that_would_go_and_writes_nothing(mapped: Workbench) -> None:
    before, state = state_hash(mapped.document), mapped.document.state
    found = tried(mapped, NO_LEGACY)
    (block,) = found.blocks
    assert str(block.entry.block) == "fx.pay.orders@2:payment@1"
    assert [lost.element.from_path for lost in block.entry.lost] == ["customer_id", "legacy"]
    assert block.was_confirmed
    assert {problem.severity for problem in found.problems} - {Severity.NOTE}
    assert (state_hash(mapped.document), mapped.document.state) == (before, state)
    assert (state_hash(mapped.read_again()), mapped.read_again().state) == (before, state)


def test_what_a_dry_run_says_is_what_the_import_then_does(mapped: Workbench) -> None:
    found = tried(mapped, NO_LEGACY, declare("fx.pay.orders", "3", "id"))
    add_reading(mapped, Side.EXTRACTION, ReaderResult((NO_LEGACY, declare("fx.pay.orders", "3", "id"))))
    real = decisions.review_list(mapped.document)
    said = [{**each.entry.as_json(), "since_ms": 0} for each in found.blocks]
    assert said == [{**item.as_json(), "since_ms": 0} for item in real.items]


def test_an_attribute_that_another_schema_feeds_too_keeps_a_source(mapped: Workbench, tmp_path: Path) -> None:
    assert [lost.attribute for lost in tried(mapped, NO_LEGACY).sources_lost] == ["legacy_code", "payer_id"]
    table = write_table(tmp_path, "fx.pay,1,id,payment,1,payer_id", name="other.csv")
    import_mapping(mapped, table)
    found = tried(mapped, NO_LEGACY)
    assert [(lost.entity, lost.attribute, lost.fed_by) for lost in found.sources_lost] == [
        ("payment", "legacy_code", ("fx.pay.orders",))
    ]


def test_a_schema_that_feeds_an_attribute_with_an_older_version_only_is_no_source(
    mapped: Workbench, tmp_path: Path
) -> None:
    import_mapping(mapped, write_table(tmp_path, "fx.pay,1,orders,payment,1,legacy_code", name="other.csv"))
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay", "2", "id")))
    lost = tried(mapped, NO_LEGACY).sources_lost
    assert "legacy_code" in [each.attribute for each in lost]


def test_required_attributes_stand_first(workbench: Workbench, tmp_path: Path) -> None:
    attributes = (AttributeDeclaration("a", "string"), AttributeDeclaration("z", "string", optional=False))
    workbench.do(AddEntity("fee", attributes))
    import_mapping(workbench, write_table(tmp_path, "fx.pay,1,id,fee,1,a", "fx.pay,1,orders,fee,1,z"))
    found = tried(workbench, declare("fx.pay", "2", "nothing"))
    assert [(lost.attribute, lost.required) for lost in found.sources_lost] == [("z", True), ("a", False)]
    assert [problem.severity.value for problem in found.problems] == ["error", "warning", "warning"]


def test_a_dry_run_of_the_canonical_model_names_what_would_go(mapped: Workbench) -> None:
    found = tried(mapped, declare("payment", "2", "payment_id", "amount"), side=Side.CDM)
    (block,) = found.blocks
    assert str(block.entry.block) == "fx.pay.orders@1:payment@2"
    assert [lost.element.to_path for lost in block.entry.lost] == ["payer_id", "legacy_code"]
    assert found.sources_lost == ()  # they are gone themselves


def test_what_waits_already_is_not_told_again(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, NO_LEGACY))
    found = tried(mapped, declare("fx.pay.orders", "3", "id", "customer_ref", "amount", "note"))
    assert found.blocks == ()
    assert {problem.severity for problem in found.problems} <= {Severity.NOTE}


def test_a_known_version_is_unchanged_and_a_bad_one_is_refused(mapped: Workbench) -> None:
    again = declare("fx.pay.orders", "1", "id", "customer_id", "amount", "legacy")
    other = declare("fx.pay.orders", "1", "id")
    found = tried(mapped, again, other)
    assert [(each.name, each.version) for each in found.unchanged] == [("fx.pay.orders", "1")]
    assert "there already with another content" in found.refused[0].reason


def test_a_refused_proposal_is_not_given_as_a_hint(mapped: Workbench) -> None:
    declared = declare("fx.pay.orders", "2", "id", "customer_ids", "amount", "legacy")
    hint = tried(mapped, declared).problems[-1].hint
    assert "Perhaps customer_id is called customer_ids there" in hint
    schema = mapped.document.extraction.named("fx.pay.orders")
    assert schema is not None
    refused = RefusedRenames([RefusedRename(Side.EXTRACTION, schema.id, "customer_id", "customer_ids")])
    found = try_reading(mapped.document, Side.EXTRACTION, ReaderResult((declared,)), refused)
    assert "Perhaps" not in found.problems[-1].hint


@pytest.mark.parametrize("count", [1, 3])
def test_files_are_tried_as_they_would_be_imported(workbench: Workbench, tmp_path: Path, count: int) -> None:
    for label in range(count):
        write_schema(tmp_path / "in", "rate", str(label + 1), "a", f"b{label}")
    found = try_sources(workbench.document, Side.EXTRACTION, [tmp_path / "in"])
    assert [each.version for each in found.added] == [str(label + 1) for label in range(count)]
    assert not found.blocks
