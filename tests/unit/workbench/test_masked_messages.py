"""Masked columns: which attributes they hold for, and what is left of messages for people to see."""

from __future__ import annotations

import json

import pytest

from metl_gui.core.edits.entities import RenameEntity
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.project.masks import is_masked
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError
from metl_gui.formats.hidden_values import HIDDEN
from metl_gui.workbench.masked_messages import Masks, schema_of
from tests.helpers.world import World
from tests.unit.core.test_lineages import not_same, same


@pytest.fixture
def world() -> World:
    """``amount`` of version 1, which feeds ``value``, is called ``total`` in version 2; ``p.iban`` feeds nothing."""
    world = World()
    world.schema("fx.pay", "1", "amount", "id", "p.iban")
    world.entity("be", "1", "value", "ref.id")
    world.map("fx.pay@1:be@1", **{"value": "amount", "ref.id": "id"})
    world.schema("fx.pay", "2", "total=amount", "id", "p.iban")
    return world


def mask(world: World, side: Side, name: str, label: str, path: str, is_hidden: bool = True) -> None:
    version = world.version(side, name, label)
    attribute = version.at_path(path)
    assert attribute is not None
    world.do(MaskAttribute(side, version.id, attribute.id, is_hidden))


def masked(world: World, side: Side, name: str, label: str) -> set[str]:
    version = world.version(side, name, label)
    return {a.path for a in version.attributes if is_masked(world.document, side, version.id, a.id)}


def seen(world: World, record: object, schema: str | None = "fx.pay") -> object:
    found = Masks(world.document, schema).incoming(json.dumps(record).encode())
    return None if found is None else json.loads(found)


def test_a_mask_holds_in_every_version_of_the_lineage_and_where_it_is_mapped_to(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "2", "total")
    assert masked(world, Side.EXTRACTION, "fx.pay", "1") == {"amount"}
    assert masked(world, Side.EXTRACTION, "fx.pay", "2") == {"total"}
    assert masked(world, Side.CDM, "be", "1") == {"value"}
    world.schema("fx.pay", "3", "total", "more")
    assert masked(world, Side.EXTRACTION, "fx.pay", "3") == {"total"}


def test_an_attribute_with_a_comma_in_its_name_is_masked_and_nothing_else_is(world: World) -> None:
    world.schema("fx.sign", "1", "id", "Name, Vorname", "a,b", "a", "b")
    mask(world, Side.EXTRACTION, "fx.sign", "1", "Name, Vorname")
    mask(world, Side.EXTRACTION, "fx.sign", "1", "a,b")
    assert masked(world, Side.EXTRACTION, "fx.sign", "1") == {"Name, Vorname", "a,b"}
    row = {"id": 1, "Name, Vorname": "Lovelace, Ada", "a,b": 2, "a": 3, "b": 4}
    assert seen(world, row, "fx.sign") == {"id": 1, "Name, Vorname": HIDDEN, "a,b": HIDDEN, "a": 3, "b": 4}
    mask(world, Side.EXTRACTION, "fx.sign", "1", "a,b", is_hidden=False)
    world.schema("fx.sign", "2", "id", "Name, Vorname")
    world.remove_schema("fx.sign", "1")
    assert masked(world, Side.EXTRACTION, "fx.sign", "2") == {"Name, Vorname"}


def test_a_mask_outlives_the_version_whose_path_it_names(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    world.remove_schema("fx.pay", "1")
    assert masked(world, Side.EXTRACTION, "fx.pay", "2") == {"total"}


def test_a_mask_stays_on_both_sides_of_a_split(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    world.do(not_same(world, "id@2", "fx.pay"))
    assert masked(world, Side.EXTRACTION, "fx.pay", "1") == masked(world, Side.EXTRACTION, "fx.pay", "2") == {"id"}


def test_an_attribute_that_is_told_apart_under_another_name_stays_masked(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    world.do(not_same(world, "total@2", "fx.pay"))
    assert masked(world, Side.EXTRACTION, "fx.pay", "1") == {"amount"}
    assert masked(world, Side.EXTRACTION, "fx.pay", "2") == {"total"}


def test_showing_an_attribute_again_takes_every_name_of_it_off_the_mask(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    mask(world, Side.EXTRACTION, "fx.pay", "2", "total")
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    mask(world, Side.EXTRACTION, "fx.pay", "2", "total", is_hidden=False)
    assert masked(world, Side.EXTRACTION, "fx.pay", "1") == masked(world, Side.EXTRACTION, "fx.pay", "2") == {"id"}


def test_what_is_joined_to_a_masked_attribute_is_masked(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    world.schema("fx.pay", "3", "sum", "id")
    world.do(same(world, "sum@3", "total@2", "fx.pay"))
    assert masked(world, Side.EXTRACTION, "fx.pay", "3") == {"sum"}


def test_an_attribute_that_is_gone_is_not_masked(world: World) -> None:
    with pytest.raises(EditError, match="not in the trees any more"):
        world.do(MaskAttribute(Side.EXTRACTION, world.version(Side.EXTRACTION, "fx.pay", "1").id, 999))


def test_values_are_hidden_in_every_image_of_a_row_and_nowhere_else(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    mask(world, Side.EXTRACTION, "fx.pay", "1", "p.iban")
    row = {"amount": 12.5, "id": 7, "p": {"iban": "DE1", "name": "x"}}
    hidden = {"amount": HIDDEN, "id": 7, "p": {"iban": HIDDEN, "name": "x"}}
    change = {"op": "u", "before": row, "after": row, "source": {"amount": "kept", "table": "pay"}}
    expected = {"op": "u", "before": hidden, "after": hidden, "source": {"amount": "kept", "table": "pay"}}
    assert seen(world, change) == expected
    assert seen(world, {"schema": {"fields": [{"field": "amount"}]}, "payload": change}) == {
        "schema": {"fields": [{"field": "amount"}]},
        "payload": expected,
    }
    assert seen(world, row) == hidden
    assert seen(world, [row]) == [hidden]


@pytest.mark.parametrize(
    "record",
    [
        {"op": "c", "after": {"id": 1, "message": "hello", "value": "x", "key": "k"}},
        {"op": "c", "after": {"headers": [["a", "b", "c"]], "value": "x"}},
        {"topic": "fx.pay", "value": {"id": 1, "message": "hello"}},
        [{"id": 1, "note": {"value": "x", "key": "k"}}],
    ],
)
def test_columns_that_are_called_as_parts_of_a_wrapper_are_shown(world: World, record: object) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    assert seen(world, record) == record


@pytest.mark.parametrize(
    "more", [{"partition": 0, "offset": 3, "value": 7}, {"op": "d", "value": None}, {"payload": 1}, {"other": 1}]
)
def test_the_plain_key_beside_a_topic_is_hidden_whatever_else_stands_there(
    world: World, more: dict[str, object]
) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    found = seen(world, {"topic": "fx.pay", "key": "Alice", **more})
    assert isinstance(found, dict)
    assert found["key"] == HIDDEN


@pytest.mark.parametrize("form", ["object", "pairs", "named"])
def test_keys_in_headers_are_hidden_in_whatever_form_headers_stand(world: World, form: str) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    headers = {
        "__debezium.oldkey": json.dumps({"id": 7001, "n": 1}),
        "__debezium.newkey": "SDcwMDI=",
        "trace": "t-1",
        "id": "7003",
        "context": json.dumps({"id": 7004}),
    }
    pairs = [list(pair) for pair in headers.items()]
    named = [{"key": name, "value": value} for name, value in headers.items()]
    written = {"object": headers, "pairs": pairs, "named": named}[form]
    found = seen(world, {"topic": "fx.pay", "headers": written, "value": None})
    assert isinstance(found, dict)
    told = found["headers"]
    if form == "named":
        told = [[one["key"], one["value"]] for one in told]
    told = dict(told)
    assert list(told) == list(headers)
    assert json.loads(told["__debezium.oldkey"]) == {"id": HIDDEN, "n": 1}
    assert (told["__debezium.newkey"], told["trace"], told["id"]) == (HIDDEN, "t-1", HIDDEN)
    assert json.loads(told["context"]) == {"id": HIDDEN}


def test_rows_that_an_envelope_holds_as_text_are_hidden_too(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    row, hidden = json.dumps({"amount": 1, "id": 2}), {"amount": HIDDEN, "id": 2}
    found = seen(world, {"op": "u", "before": row, "after": row, "updateDescription": {"updatedFields": row}})
    assert isinstance(found, dict)
    texts = found["before"], found["after"], found["updateDescription"]["updatedFields"]
    assert [json.loads(text) for text in texts] == [hidden] * 3


def test_the_plain_key_of_a_wrapper_without_a_topic_is_hidden(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    assert seen(world, {"key": "4711", "value": "{}"}) == {"key": HIDDEN, "value": "{}"}


def test_a_message_written_as_text_in_a_wrapper_is_hidden_too(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    record = {"topic": "fx.pay", "key": "4711", "value": json.dumps({"amount": 1, "id": 2}), "value_b64": "eA=="}
    found = seen(world, record)
    assert isinstance(found, dict)
    assert json.loads(found["value"]) == {"amount": HIDDEN, "id": 2}
    assert (found["key"], found["value_b64"], found["topic"]) == (HIDDEN, HIDDEN, "fx.pay")


def test_values_that_are_not_hidden_keep_their_digits_and_order(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    raw = b'{"id":1.50,"amount":9,"big":123456789012345678901234567890.10,"x":"\\u00e9"}'
    assert Masks(world.document, "fx.pay").incoming(raw) == raw.replace(b":9,", f':"{HIDDEN}",'.encode())


@pytest.mark.parametrize("raw", [b"{broken", b'{"amount": 1', b"\xff\xfe", b'{"amount":1}}'])
def test_a_record_that_cannot_be_read_is_not_shown_while_something_is_masked(world: World, raw: bytes) -> None:
    assert Masks(world.document, "fx.pay").incoming(raw) == raw
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    assert Masks(world.document, "fx.pay").incoming(raw) is None


def test_a_record_of_an_unknown_schema_hides_what_any_schema_masks(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "2", "total")
    assert seen(world, {"amount": 1, "total": 2, "other": 3}, None) == {"amount": HIDDEN, "total": HIDDEN, "other": 3}
    assert seen(world, {"amount": 1}, "unknown.topic") == {"amount": HIDDEN}


def test_outgoing_messages_hide_what_masked_columns_feed(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    message = {
        "entity": "be",
        "version": "1",
        "op": "c",
        "key": {"ref.id": 7, "@source.id": 7, "@source.p": 1},
        "source": {"schema": "fx.pay", "version": "1", "id": "kept"},
        "payload": {"value": 1, "ref": {"id": 7}, "note": "x"},
    }
    found = Masks(world.document, "fx.pay").outgoing("be", json.dumps(message).encode())
    assert found is not None
    assert json.loads(found) == {
        **message,
        "key": {"ref.id": HIDDEN, "@source.id": HIDDEN, "@source.p": 1},
        "payload": {"value": HIDDEN, "ref": {"id": HIDDEN}, "note": "x"},
    }
    assert schema_of(found) == "fx.pay"
    assert schema_of(b'{"source":3}') is None


def test_messages_of_an_entity_that_nothing_answers_to_any_more_hide_what_is_masked_in_any(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    mask(world, Side.CDM, "be", "1", "ref.id")
    done = world.do(RenameEntity(world.version(Side.CDM, "be", "1").schema_id, "thing"))
    payload = {"value": 1, "ref": {"id": 7}, "note": "x"}
    hidden = {"value": HIDDEN, "ref": {"id": HIDDEN}, "note": "x"}
    message = {"entity": "thing", "version": "1", "op": "c", "payload": payload}
    for take_back, names in ((lambda: None, ("be", "thing")), (lambda: world.undo(done), ("be", "thing", "gone"))):
        take_back()
        for name in names:
            found = Masks(world.document, "fx.pay").outgoing(name, json.dumps(message).encode())
            assert found is not None
            assert json.loads(found)["payload"] == hidden, name
    other = json.dumps(message | {"version": "7"}).encode()
    found = Masks(world.document, "fx.pay").outgoing("be", other)
    assert found is not None
    assert json.loads(found)["payload"] == hidden


def test_messages_of_an_older_entity_version_hide_what_masked_columns_feed_by_now(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "amount")
    world.entity("be", "2", "sum=value", "ref.id", "more")
    message = {"entity": "be", "version": "1", "op": "c", "payload": {"value": 1, "ref": {"id": 7}}}
    found = Masks(world.document, "fx.pay").outgoing("be", json.dumps(message).encode())
    assert found is not None
    assert json.loads(found)["payload"] == {"value": HIDDEN, "ref": {"id": 7}}


@pytest.mark.parametrize("path", ["amount", "p.iban", None])
def test_what_the_newest_entity_version_lacks_is_hidden_in_older_messages_once_anything_is_masked(
    world: World, path: str | None
) -> None:
    if path is not None:
        mask(world, Side.EXTRACTION, "fx.pay", "1", path)
    world.entity("be", "2", "ref.id", "more")
    message = {"entity": "be", "version": "1", "op": "c", "payload": {"value": 1, "ref": {"id": 7}}}
    found = Masks(world.document, "fx.pay").outgoing("be", json.dumps(message).encode())
    assert found is not None
    value = 1 if path is None else HIDDEN
    assert json.loads(found)["payload"] == {"value": value, "ref": {"id": 7}}


def test_the_old_key_of_a_message_is_hidden_as_its_key_is(world: World) -> None:
    mask(world, Side.EXTRACTION, "fx.pay", "1", "id")
    old = {"ref": {"id": 6}, "@source.id": 6, "@source.p": 1}
    source = {"schema": "fx.pay", "version": "1", "origin": {"id": 5}, "old_key": old, "publication": 2}
    message = {"entity": "be", "version": "1", "op": "c", "key": None, "source": source, "payload": {}}
    found = Masks(world.document, "fx.pay").outgoing("be", json.dumps(message).encode())
    assert found is not None
    hidden = {"ref": {"id": HIDDEN}, "@source.id": HIDDEN, "@source.p": 1}
    assert json.loads(found)["source"] == source | {"old_key": hidden}
    nothing = json.dumps(message | {"source": source | {"old_key": None}}).encode()
    assert Masks(world.document, "fx.pay").outgoing("be", nothing) is not None


def test_a_cdm_attribute_can_be_masked_whatever_feeds_it(world: World) -> None:
    mask(world, Side.CDM, "be", "1", "value")
    message = b'{"entity":"be","version":"1","op":"c","payload":{"value":1,"x":2}}'
    found = Masks(world.document, "fx.pay").outgoing("be", message)
    assert found is not None
    assert json.loads(found)["payload"] == {"value": HIDDEN, "x": 2}
    assert Masks(world.document, "fx.pay").incoming(b'{"amount":1}') == b'{"amount":1}'
