"""Settings and the two deletions, by names."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.workbench.exports.mappable_blocks import key_of
from metl_gui.workbench.review.decisions import review_list
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import remove_version, set_settings, settings_of

from .conftest import declare


def test_several_settings_are_one_state_and_an_empty_value_is_the_default(workbench: Workbench) -> None:
    result = set_settings(workbench, "fx.pay.orders", ["key=id, customer_id", "replica_identity=full"])
    assert result.as_json() == {
        "state": 5,
        "name": "fx.pay.orders",
        "settings": {"key": "id,customer_id", "replica_identity": "full"},
        "removed": [],
    }
    assert set_settings(workbench, "fx.pay.orders", ["key="]).settings == {"replica_identity": "full"}
    workbench.undo()
    assert settings_of(workbench.document, "fx.pay.orders").settings["key"] == "id,customer_id"


@pytest.mark.parametrize(
    ("assignment", "said"),
    [
        ("key", "NAME=VALUE"),
        ("key=idd", "Did you mean id"),
        ("replica_identity=half", "default, full"),
        ("replica=full", "Did you mean replica_identity"),
        ("version_field=a\\b", "not a path"),
        ("time_zone=europe/berlin", "Did you mean Europe/Berlin"),
        ("time_zone=+01:00", "such as Europe/Berlin"),
        ("time_zone=localtime", "no time zone"),
        ("time_zone=right/Europe/Berlin", "no time zone"),
        ("time_zone=../../etc/passwd", "no time zone"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_what_can(workbench: Workbench, assignment: str, said: str) -> None:
    with pytest.raises(EditError, match=said):
        set_settings(workbench, "fx.pay.orders", ["placeholder=x", assignment])
    assert workbench.document.state == 4


def test_a_removed_schema_version_takes_its_blocks_and_undo_brings_them_back(mapped: Workbench) -> None:
    before = state_hash(mapped.document)
    removal = remove_version(mapped, Side.EXTRACTION, "fx.pay.orders", "1")
    assert (removal.state, removal.blocks, removal.elements) == (6, 2, 6)
    assert mapped.document.extraction.named("fx.pay.orders") is None
    mapped.undo()
    assert state_hash(mapped.document) == before


def test_removing_the_newest_entity_version_carries_its_blocks_back(mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_id", "amount", "legacy_code", "fee")))
    removal = remove_version(mapped, Side.CDM, "payment", "2")
    assert (removal.blocks, removal.elements) == (0, 0)
    assert review_list(mapped.document).items == ()


def test_removing_what_is_not_there_names_what_is(mapped: Workbench) -> None:
    with pytest.raises(EditError, match="It has 1"):
        remove_version(mapped, Side.CDM, "payment", "3")


def test_switching_to_the_newest_entity_version_tells_which_blocks_went(mapped: Workbench) -> None:
    set_settings(mapped, "payment", ["policy=parallel"], Side.CDM)
    mapped.do(AddVersion(Side.CDM, declare("payment", "2", "payment_id", "payer_id", "amount", "legacy_code", "fee")))
    done = set_settings(mapped, "payment", ["policy=newest"], Side.CDM)
    assert done.removed == ("fx.pay.orders 1 → payment 1",)
    assert set_settings(mapped, "payment", ["policy=newest"], Side.CDM).removed == ()


def test_a_comma_in_the_name_of_an_attribute_is_written_with_a_backslash(workbench: Workbench) -> None:
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.sign", "1", "id", "Name, Vorname", "a,b")))
    done = set_settings(workbench, "fx.sign", ["key=id, Name\\, Vorname", "mask=a\\,b,Name\\, Vorname"])
    assert done.settings == {"key": "id,Name\\, Vorname", "mask": "Name\\, Vorname,a\\,b"}
    schema = workbench.document.extraction.named("fx.sign")
    assert schema is not None
    version = workbench.document.extraction.version(schema.version_ids[0])
    assert key_of(schema, version) == ("id", "Name, Vorname")
    with pytest.raises(EditError, match=r"a comma within a name as \\,: Name\\, Vorname"):
        set_settings(workbench, "fx.sign", ["mask=Name, Vorname"])
