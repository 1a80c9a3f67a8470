"""What was settled since a moment, read from the log of a real project."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.addresses import block_name, find_block
from metl_gui.workbench.review.decisions import accept_losses, confirm, confirm_unconfirmed, map_instead, retire
from metl_gui.workbench.review.progress import midnight_ms, settled_since
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import declare

PAYMENT, REFUND = "fx.pay.orders@2:payment@1", "fx.pay.orders@2:refund@1"


@pytest.fixture
def waiting(mapped: Workbench) -> Workbench:
    """A project with a second version, of which one block is same and one has lost two elements."""
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "amount", "code")))
    return mapped


def told(workbench: Workbench, since_ms: int = 0) -> dict[str, str]:
    """Tell how each block was settled, the newest first."""
    found = settled_since(workbench, since_ms).newest_first()
    return {str(block_name(workbench.document, each.key)): each.how.value for each in found}


def test_what_an_update_took_over_whole_is_same_and_what_waits_is_not_settled(waiting: Workbench) -> None:
    assert told(waiting) == {REFUND: "same"}
    (same,) = settled_since(waiting, 0).newest_first()
    assert (same.title, same.who, same.waited, same.answered) == (waiting.log(1)[0].title, "tess", False, ())


def test_an_unconfirmed_block_is_settled_when_somebody_confirms_it_and_not_when_it_is_taken_over(
    workbench: Workbench,
) -> None:
    key = find_block(workbench.document, "fx.pay@1:refund@1")
    q = workbench.document.cdm.version(key[1]).attributes[0].id
    p = workbench.document.extraction.version(key[0]).attributes[0].id
    workbench.do(SetElements(key, (Element(q, p),), status=Status.UNCONFIRMED))
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.pay", "2", "orders", "id", "more")))
    assert told(workbench) == {}
    confirm_unconfirmed(workbench)
    assert told(workbench) == {"fx.pay@2:refund@1": "confirmed", "fx.pay@1:refund@1": "confirmed"}


def test_losses_that_were_confirmed_are_told_with_their_answers_who_and_when(waiting: Workbench) -> None:
    confirm(waiting, [PAYMENT], "nobody reads them")
    newest = settled_since(waiting, 0).newest_first()[0]
    logged = waiting.log(1)[0]
    assert told(waiting) == {PAYMENT: "loss confirmed", REFUND: "same"}
    assert (newest.state, newest.who, newest.when_ms) == (logged.state, logged.who, logged.when_ms)
    assert newest.waited
    assert newest.block.comment == "nobody reads them"
    assert {(loss.to_path, loss.answer) for loss in newest.answered} == {
        ("payer_id", "accepted"),
        ("legacy_code", "accepted"),
    }


def test_a_block_is_mapped_again_once_its_last_loss_is_answered_and_one_of_them_by_another_attribute(
    waiting: Workbench,
) -> None:
    map_instead(waiting, PAYMENT, ["code=legacy_code"])
    assert told(waiting) == {REFUND: "same"}  # one is still open
    accept_losses(waiting, PAYMENT, ["payer_id"])
    assert told(waiting) == {PAYMENT: "mapped again", REFUND: "same"}
    newest = settled_since(waiting, 0).newest_first()[0]
    assert {(loss.to_path, loss.answer) for loss in newest.answered} == {
        ("payer_id", "accepted"),
        ("legacy_code", "mapped"),
    }


def test_a_retired_block_is_told_and_undo_takes_it_off_again(waiting: Workbench) -> None:
    retire(waiting, PAYMENT)
    assert told(waiting) == {PAYMENT: "retired", REFUND: "same"}
    waiting.undo()
    assert told(waiting) == {REFUND: "same"}


def test_what_is_older_than_the_moment_is_not_told(waiting: Workbench) -> None:
    retire(waiting, PAYMENT)
    assert told(waiting, int(time.time() * 1000) + 60_000) == {}


def test_reading_on_from_what_is_known_gives_what_reading_all_gives(waiting: Workbench) -> None:
    known = settled_since(waiting, 0)
    decide = partial(confirm, waiting, [PAYMENT])
    steps: list[Callable[[], object]] = [decide, waiting.undo, waiting.redo, waiting.undo, waiting.undo]
    for step in steps:
        step()
        known = settled_since(waiting, 0, known)
        assert known.state == waiting.document.state
        assert known.newest_first() == settled_since(waiting, 0).newest_first()
    assert known.newest_first() == ()  # the version itself is gone


def test_a_same_block_that_is_back_after_its_version_was_removed_long_ago_is_not_settled_now(
    waiting: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = waiting.document.extraction.schema(find_block_schema(waiting))
    waiting.do(RemoveVersion(Side.EXTRACTION, schema.version_ids[-1]))
    later = time.time_ns() + 5_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    waiting.undo()
    assert told(waiting, later // 1_000_000) == {}
    assert waiting.document.matrix.block(*find_block(waiting.document, REFUND)) is not None


def find_block_schema(workbench: Workbench) -> int:
    """Return the id of the schema with two versions."""
    return workbench.document.extraction.schema_of(find_block(workbench.document, REFUND)[0])


def test_a_day_begins_at_midnight_of_the_clock_on_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert midnight_ms(1_700_000_000_000) == 1_699_974_000_000  # 15 November, 07:13 there
    finally:
        monkeypatch.undo()
        time.tzset()
