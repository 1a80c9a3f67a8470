"""Messages as METL writes them are staged by their layouts, and become what reading each of them makes of them."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from metl_gui.engine.kernel.compiled.matching import layout_tree
from metl_gui.engine.kernel.compiled.matching.layout_tree import LayoutTree
from metl_gui.engine.kernel.message_layout import Layout, MessageKind, MessagePaths, layout_of, tree_of
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.staging.messages import MessageStager
from metl_gui.engine.staging.written_messages import WrittenBatch, _is_plain, tree_code
from tests.fuzz.written_messages import play
from tests.helpers.staging_ways import in_both_ways
from tests.unit.engine.test_message_staging import message
from tests.unit.engine.test_stage_sink import ORDER, plan_of

_PLAN = plan_of()


@pytest.mark.parametrize("number", range(3))
def test_broken_messages_become_what_reading_each_makes_of_them(number: int) -> None:
    assert play(f"written {number}") > 50


def stager() -> MessageStager:
    made = MessageStager(_PLAN, (ORDER,))
    made.tree_code = tree_code(-1)
    return made


def by_layout(made: MessageStager, texts: Sequence[bytes]) -> WrittenBatch:
    return made._written.stage(Records.of(list(texts), "m.jsonl"))


def test_what_was_learned_of_one_message_holds_for_those_after_it() -> None:
    made = stager()
    assert by_layout(made, [message()]).tally.mapped == 1
    tree = made._written._tree
    assert tree is not None
    texts = [message(key={"id": at}, payload={"id": at}, position=f"p/0/{at}", snapshot=at % 2 == 0) for at in range(9)]
    assert by_layout(made, texts).left.tolist() == []
    assert len(tree.layouts) == 1
    assert by_layout(made, [message(schema="other.orders"), message(op="d")]).left.tolist() == []
    assert len(tree.layouts) == 3


@pytest.mark.parametrize(
    "text",
    [
        message().replace(b'":', b'": ', 1),
        message().replace(b'"entity":"order","version":"2"', b'"version":"2","entity":"order"'),
        message(payload={"id": 1, "more": 2}),
        message(payload={"id": 1, "name": "x"}, unchanged=["name"]),
        message(key={}),
        message(op="t", version=None),
        message(version="9"),
        message(payload={"id": 1, "tags": json.loads("[" * 40 + "]" * 40)}),
        message(payload={"id": 1, "name": 5}),
        message(snapshot="first"),
        message()[:-1],
        message() + b"}",
        b"",
    ],
)
def test_what_is_written_in_another_way_or_does_not_fit_is_left_to_be_read(text: bytes) -> None:
    made = stager()
    assert by_layout(made, [message(), text, message()]).left.tolist() == [1]
    in_both_ways(_PLAN, (ORDER,), Records.of([message(), text, message()], "m.jsonl"))


def test_texts_may_be_spelled_in_any_way_that_stands_for_the_same() -> None:
    made = stager()
    text = message(position='a"\u00e9/0/1', payload={"id": 1, "name": "\u00e9"}).replace(b'a\\"', b"\\u0061\\u0022")
    by_layout(made, [message(payload={"id": 1, "name": "x"})])
    assert by_layout(made, [text]).left.tolist() == []
    in_both_ways(_PLAN, (ORDER,), Records.of([text] * 2, "m.jsonl"))


def test_messages_of_more_layouts_than_there_is_room_for_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_tree, "MOST_LAYOUTS", 2)
    made = stager()
    texts = [message(op=op) for op in "crud"]
    assert len(by_layout(made, texts).left) == 2
    assert len(by_layout(made, texts).left) == 2
    assert made.stage(Records.of(texts, "m.jsonl")).tally.mapped == 4


def layout(version: str, *paths: str) -> Layout:
    kind = MessageKind("order", "2", 7, "c", "shop.orders", version, None, is_replay=False)
    return layout_of(kind, MessagePaths(("id",), payload=paths))


def test_a_tree_takes_each_layout_once_and_refuses_what_would_make_it_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_tree, "MOST_BESIDE", 3)
    tree = LayoutTree()
    assert [tree.add(layout(version, "id")) for version in ("1", "1", "2", "3", "4")] == [
        True,
        False,
        True,
        True,
        False,
    ]
    assert not tree.add(layout("1", *(f"a{number}" for number in range(layout_tree.MOST_VALUES))))
    assert [one.kind.version for one in tree.layouts] == ["1", "2", "3"]


def test_a_tree_has_bounds_for_text_and_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = LayoutTree()
    deep = ".".join("a" * 31)
    assert not tree.add(layout("1", deep))
    assert tree.add(layout("1", deep[:-2]))
    monkeypatch.setattr(layout_tree, "MOST_TEXT_BYTES", 2000)
    assert not tree.add(layout("2" * 1900))
    assert tree.add(layout("3"))


def test_long_messages_teach_nothing_and_are_found_where_shorter_ones_did() -> None:
    made, long = stager(), message(payload={"id": 1, "name": "x" * 100_000})
    assert by_layout(made, [long, message(schema="s" * 100_000)]).left.tolist() == [0, 1]
    by_layout(made, [message(payload={"id": 1, "name": "x"})])
    assert by_layout(made, [long]).left.tolist() == []


def test_room_for_lengths_follows_the_text_and_not_the_widest_message() -> None:
    made = stager()
    wide = message(key={f"k{number}": number for number in range(490)})
    assert by_layout(made, [wide]).tally.mapped == 1
    tree = made._written._tree
    assert tree is not None
    records = Records.of([b"x"] * 50_000, "m.jsonl")
    text = layout_tree.padded(records)
    _, lengths = tree._match(text, records.starts, records.stops)
    assert lengths.base is not None
    assert lengths.base.nbytes < 8 * len(text)


def test_layouts_of_a_few_messages_among_many_others_are_left_to_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_tree, "_MANY_LAYOUTS", 3)
    versions = [*"1234", *("5" * 8)]
    texts = [message(schema=f"s{version}", key={"id": at}) for at, version in enumerate(versions)]
    made = stager()
    assert by_layout(made, texts).left.tolist() == [0, 1, 2, 3]
    in_both_ways(_PLAN, (ORDER,), Records.of(texts, "m.jsonl"))


def test_plans_in_which_an_attribute_runs_through_another_teach_nothing() -> None:
    paths = ["a", "a.b"]
    assert not _is_plain(tree_of(paths), paths)
    assert _is_plain(tree_of(["a.b", "a.c", "d\\.e"]), ["a.b", "a.c", "d\\.e"])


def test_where_nothing_was_learned_for_long_other_messages_are_looked_at() -> None:
    made = stager()
    foreign = message().replace(b'":', b'": ', 1)
    for _ in range(8):
        assert by_layout(made, [foreign] * 20).tally.mapped == 0
    texts = [*[foreign] * 19, message()]
    assert any(by_layout(made, texts).tally.mapped for _ in range(10))


def test_a_piece_that_begins_as_another_does_leaves_its_messages_and_no_wrong_row() -> None:
    texts = [message(key=key) for key in ({"a": {"b": 1}}, {"a": 1}, {"ab": 1}, {"a": 1, "b": 2}, None)]
    in_both_ways(_PLAN, (ORDER,), Records.of(texts * 3, "m.jsonl"))
