"""Settings of the whole project, and what they do to edits."""

from __future__ import annotations

import pytest

from metl_gui.core.edits.review import ConfirmBlock
from metl_gui.core.matrix.blocks import Status
from metl_gui.errors import EditError
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.review.decisions import confirm_unconfirmed
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.settings import project_settings, set_project_settings

from .conftest import write_table


def test_a_mapping_table_waits_for_a_second_person_where_the_project_asks_for_one(workbench: Workbench) -> None:
    assert set_project_settings(workbench, ["second_person_confirms=yes"]).second_person_confirms
    import_mapping(workbench, write_table(workbench.path.parent, "fx.pay.orders,1,id,payment,1,payment_id"))
    (block,) = workbench.document.matrix.blocks()
    assert (block.status, block.who) == (Status.UNCONFIRMED, "tess")
    assert (publish(workbench).blocks, publish(workbench).unconfirmed) == (0, 1)
    with pytest.raises(EditError, match="tess cannot confirm"):
        workbench.do(ConfirmBlock(block.key))
    path = workbench.path
    workbench.close()
    with Workbench.open(path, who="uma") as other:
        other.do(ConfirmBlock(block.key))
        assert publish(other).blocks == 1


def test_all_that_others_set_is_confirmed_at_once_and_the_own_is_left(workbench: Workbench) -> None:
    set_project_settings(workbench, ["second_person_confirms=yes"])
    folder, path = workbench.path.parent, workbench.path
    import_mapping(workbench, write_table(folder, "fx.pay.orders,1,id,payment,1,payment_id"))
    assert confirm_unconfirmed(workbench).as_json() == {"state": 5, "title": "", "confirmed": 0, "own": 1}
    workbench.close()
    with Workbench.open(path, who="uma") as other:
        import_mapping(other, write_table(folder, "fx.pay.orders,1,id,refund,1,refund_id"))
        done = confirm_unconfirmed(other, "looked at it")
        assert (done.confirmed, done.own, done.title) == (1, 1, "Confirm 1 unconfirmed block")
        assert sorted(block.status for block in other.document.matrix.blocks()) == ["confirmed", "unconfirmed"]
        assert other.undo().title == "Undo: Confirm 1 unconfirmed block"


def test_undo_brings_back_what_was_confirmed_as_confirmed(mapped: Workbench) -> None:
    set_project_settings(mapped, ["second_person_confirms=yes"])
    import_mapping(mapped, write_table(mapped.path.parent, "fx.pay,1,id,refund,1,refund_id"))
    mapped.undo()
    mapped.undo()
    assert mapped.document.matrix.block_count == 0
    mapped.redo()
    assert {block.status for block in mapped.document.matrix.blocks()} == {Status.CONFIRMED}


def test_settings_make_no_state_and_the_default_is_forgotten(workbench: Workbench) -> None:
    state = workbench.document.state
    set_project_settings(workbench, ["second_person_confirms=yes"])
    assert workbench.document.state == state
    assert set_project_settings(workbench, ["second_person_confirms=no"]) == project_settings(workbench)
    assert workbench.kept.settings.all() == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("second_person_confirm=yes", "Did you mean second_person_confirms"),
        ("second_person_confirms=maybe", "Values are no and yes"),
        ("key=id", "need --schema or --entity"),
        ("yes", "NAME=VALUE"),
    ],
)
def test_an_unknown_setting_or_value_sets_nothing(workbench: Workbench, text: str, words: str) -> None:
    with pytest.raises(EditError, match=words):
        set_project_settings(workbench, ["second_person_confirms=yes", text])
    assert workbench.kept.settings.all() == {}
