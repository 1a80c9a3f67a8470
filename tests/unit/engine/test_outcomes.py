"""What a kernel hands out: columns that stay as they are while somebody holds them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Choice, Kernel
from metl_gui.engine.sinks.jsonl import JsonlSink
from tests.helpers.plans import map_all, plan_of

PLAN = plan_of(
    {
        "schemas": [
            {
                "name": "s.a.t",
                "versions": [
                    {
                        "label": "1",
                        "paths": ["id", "name"],
                        "key": ["id"],
                        "blocks": [
                            {"entity": "one", "entity_version": "1", "targets": [["id", "no"], ["name", "who.name"]]},
                            {"entity": "two", "entity_version": "7", "targets": [["name", "title"]]},
                        ],
                    }
                ],
            }
        ]
    }
)


def change(number: int, name: str | None) -> bytes:
    source = {"name": "s", "schema": "a", "table": "t"}
    return json.dumps({"after": {"id": number, "name": name}, "source": source, "op": "c"}).encode()


def test_an_outcome_that_is_held_keeps_its_content_while_the_kernel_maps_on() -> None:
    kernel = Kernel(PLAN)
    first = map_all(kernel, [change(n, "a") for n in range(50)])
    lines, kept = first.lines_by_entity()["one"], first.messages()
    del first
    for name in ("b", "c"):
        map_all(kernel, [change(n, name) for n in range(50)])
    assert bytes(lines) == b"".join(text + b"\n" for text in kept if b'"entity":"one"' in text)


def test_columns_that_nobody_holds_serve_the_next_batch() -> None:
    kernel = Kernel(PLAN)
    places = set()
    for name in ("a", "b", "c"):
        outcome = map_all(kernel, [change(1, name)])
        places.add(outcome.starts.ctypes.data)
        del outcome
    assert len(places) == 1


def test_lines_by_entity_are_the_messages_of_each_in_order() -> None:
    outcome = map_all(Kernel(PLAN), [change(1, None), change(2, "x"), change(3, "y")])
    messages = list(zip(outcome.sent_to(), outcome.messages(), strict=True))
    assert [entity for entity, _ in messages] == ["one", "one", "two", "one", "two"]
    assert {entity: bytes(lines) for entity, lines in outcome.lines_by_entity().items()} == {
        wanted: b"".join(text + b"\n" for entity, text in messages if entity == wanted) for wanted in ("one", "two")
    }
    assert outcome.counts()["bytes_out"] == sum(len(text) for _, text in messages)


@pytest.mark.parametrize("choice", ["compiled", "reference"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_message_is_one_line_although_its_values_span_some(choice: Choice, end: str, tmp_path: Path) -> None:
    value = json.dumps({"a\nb": ["\r\n", {}], "c": [1, 2]}, indent=2).replace("\n", end)
    raw = change(1, "here").replace(b'"here"', value.encode())
    outcome = map_all(Kernel(PLAN, choice=choice, patience=0), [change(0, "plain"), raw, raw, change(2, "plain")])
    for by_date in (False, True):
        folder = tmp_path / str(by_date)
        folder.mkdir()
        sink = JsonlSink(folder, "part", by_date=by_date)
        sink.append(outcome)
        written = {path: Path(path).read_bytes() for path in sink.close()}
        assert len(written) == 2
        for path, lines in written.items():
            entity = "one" if "/one/" in path else "two"
            messages = [text for to, text in zip(outcome.sent_to(), outcome.messages(), strict=True) if to == entity]
            assert [json.loads(line) for line in lines.splitlines()] == list(map(json.loads, messages))
    assert value.encode() in outcome.message(2)


def test_every_mapped_attribute_is_counted_in_the_messages_in_which_it_is_not_null() -> None:
    outcome = map_all(Kernel(PLAN), [change(1, None), change(2, "x"), change(3, "y"), b'{"op":"c","after":{}}'])
    assert outcome.by_attribute() == {"one@1": {"no": 3, "who.name": 2}, "two@7": {"title": 2}}


def test_an_outcome_of_nothing_is_empty() -> None:
    outcome = map_all(Kernel(PLAN), [])
    assert (len(outcome), outcome.lines_by_entity(), outcome.fates.tolist(), bytes(outcome.text)) == (0, {}, [], b"")


@pytest.mark.parametrize("count", [0, 2, 9])
def test_the_first_records_keep_their_places(count: int) -> None:
    records = Records.of([b"{}", b"[1]", b"null"], "f", [5, 50, 500], ["g", "h", "i"], [2, 3, 90])
    first = records.first(count)
    assert list(first) == [b"{}", b"[1]", b"null"][:count]
    assert [first.position(at) for at in range(len(first))] == ["g@5", "h@50", "i@500"][:count]
    assert records.bytes_in == 95
    if count == 9:
        assert map_all(Kernel(PLAN), [b"null"]).fates.tolist() == [RecordOutcome.SKIPPED]
