"""From a message to the cells that mapped it and the people who decided them, in the state that made it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.errors import EditError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.link import PlaceKind, read_link
from metl_gui.workbench.links.message_reasons import (
    LONGEST_LINE,
    MessageReasons,
    MessageTracer,
    reasons_of_file,
    reasons_of_path,
)
from metl_gui.workbench.links.places import look_at_place
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.session import Workbench

ORDERS = "fx.pay.orders"


def messages_of(workbench: Workbench, row: dict[str, object]) -> list[bytes]:
    """Map one row as a preview does."""
    raw = {"topic": ORDERS, "value": {"op": "c", "after": row, "source": {"table": "orders"}}}
    previews = Previews.of_project(workbench)
    previews.take(workbench.document)
    return [each.text for each in previews.of(json.dumps(raw).encode()).messages if each.text is not None]


def reasons(workbench: Workbench, message: bytes) -> MessageReasons:
    return MessageTracer(workbench).reasons(message)


@pytest.fixture
def payment(mapped: Workbench) -> bytes:
    found = messages_of(mapped, {"id": "1", "customer_id": "2", "amount": "3", "legacy": "4"})
    return next(each for each in found if json.loads(each)["entity"] == "payment")


def test_each_attribute_of_a_message_is_traced_to_its_cell_and_to_who_set_it(mapped: Workbench, payment: bytes) -> None:
    found = reasons(mapped, payment)
    assert str(found.block) == "fx.pay.orders@1:payment@1"
    assert [(each.element.from_path, each.path) for each in found.values] == [
        ("id", "payment_id"),
        ("customer_id", "payer_id"),
        ("amount", "amount"),
        ("legacy", "legacy_code"),
    ]
    for value in found.values:
        assert value.decision is not None
        assert (value.decision.who, value.decision.state) == ("tess", 5)
        link = read_link(value.link)
        assert link.place.kind is PlaceKind.CELL
        assert look_at_place(mapped, link).element == value.element


def test_a_message_is_traced_in_the_state_that_made_it_whatever_was_changed_since(
    mapped: Workbench, payment: bytes
) -> None:
    before = reasons(mapped, payment)
    key = find_block(mapped.document, "fx.pay.orders@1:payment@1")
    block = mapped.document.matrix.block(*key)
    assert block is not None
    mapped.do(SetElements(key, zeros=block.elements))
    assert reasons(mapped, payment) == before
    now = json.dumps(json.loads(payment) | {"state": mapped.document.state}).encode()
    assert "no block between" in reasons(mapped, now).words


def test_a_state_that_is_not_there_is_said_and_the_newest_one_told(mapped: Workbench, payment: bytes) -> None:
    late = json.dumps(json.loads(payment) | {"state": 99}).encode()
    found = reasons(mapped, late)
    assert "no state 99" in found.words
    assert (found.state, len(found.values)) == (5, 4)


def test_only_attributes_that_the_message_has_are_traced(mapped: Workbench, payment: bytes) -> None:
    message = json.loads(payment)
    del message["payload"]["amount"]
    assert "amount" not in [each.path for each in reasons(mapped, json.dumps(message).encode()).values]


def test_a_record_that_was_set_aside_is_traced_to_the_cell_and_to_who_set_it(mapped: Workbench) -> None:
    detail = 'payment@1 amount takes a number, and not "secret"'
    row = {"reason": "type_mismatch", "detail": detail, "schema": ORDERS, "version": "1", "position": "a@1"}
    found = reasons(mapped, json.dumps(row | {"state": 5, "raw": "{}"}).encode())
    assert found.reason == "type_mismatch"
    assert [(each.path, each.decision.who if each.decision else "") for each in found.values] == [("amount", "tess")]
    assert "secret" not in json.dumps(found.as_json())


_HOSTILE: list[Any] = [
    b"",
    b"{",
    b"[" * 100_000,
    b"[]",
    b"null",
    b"7",
    b"{}",
    b'{"entity": 1, "source": {}}',
    b'{"entity": "payment", "source": []}',
    b'{"reason": 7}',
    b"x" * (LONGEST_LINE + 1),
    b'\xff{"entity": "payment"}',
]


@pytest.mark.parametrize("text", _HOSTILE, ids=range(len(_HOSTILE)))
def test_what_is_no_message_is_refused_with_a_hint(mapped: Workbench, text: bytes) -> None:
    with pytest.raises(EditError) as refused:
        reasons(mapped, text)
    assert refused.value.hint


@pytest.mark.parametrize(
    "change",
    [
        {"state": "x"},
        {"state": True},
        {"state": -1},
        {"version": None},
        {"version": [1]},
        {"source": {"schema": {}, "version": 4, "position": ["a" * 9_999]}},
        {"payload": "nothing"},
    ],
)
def test_a_message_of_odd_members_is_traced_as_far_as_it_goes(
    mapped: Workbench, payment: bytes, change: dict[str, object]
) -> None:
    found = reasons(mapped, json.dumps(json.loads(payment) | change).encode())
    assert len(found.position) <= 200


def test_lines_are_read_up_to_a_limit_and_a_bad_one_is_named(mapped: Workbench, payment: bytes, tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl"
    path.write_bytes(payment + b"\n\n" + payment + b"\n{\n")
    assert len(reasons_of_path(mapped, path, 2)) == 2
    with pytest.raises(EditError, match="Line 4"):
        reasons_of_path(mapped, path, 3)
    with pytest.raises(EditError, match="cannot be read"):
        reasons_of_path(mapped, tmp_path, 1)
    assert reasons_of_file(mapped, io.BytesIO(b""), 1) == ()


def test_a_mark_of_the_byte_order_before_the_first_line_says_nothing(mapped: Workbench, payment: bytes) -> None:
    lines = b"\xef\xbb\xbf" + payment + b"\r\n" + payment
    assert reasons_of_file(mapped, io.BytesIO(lines), 2) == reasons_of_file(mapped, io.BytesIO(lines[3:]), 2)
