"""The kernel's rules over random documents and records: A1 as the oracle, exact bytes, counts that add up."""

from __future__ import annotations

import base64
import json
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.matrix.canonical import is_held
from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.sequential import map_sequentially
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.nodes import Version
from metl_gui.core.trees.paths import escape, split
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from tests.helpers.histories import Steps, start, step, steps
from tests.helpers.json_texts import judged, mutations, values
from tests.helpers.plans import map_all, plan_of

Placed = tuple[str, str, tuple[tuple[str, str], ...]]
"""Entity, entity version, and (path, value text) of what is not null."""

Tree = dict[str, Any]


def document_of(history: Steps) -> Document:
    """Play a history from a world with mapped blocks."""
    world = start()
    world.map("s1@10:be1@10", a="a", b="b")
    for kind, seed in history:
        step(world, kind, seed)
    return world.document


def row_text(row: dict[str, str]) -> str:
    """Write values by dotted path as a row of nested objects."""
    tree: Tree = {}
    for path, text in row.items():
        *parents, leaf = split(path)
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = text
    return _written(tree)


def _written(tree: Tree) -> str:
    members = (
        f"{json.dumps(name)}:{value if isinstance(value, str) else _written(value)}" for name, value in tree.items()
    )
    return "{" + ",".join(members) + "}"


def schema_text(name: str, version: Version) -> str:
    """Write the Connect schema of a version, so that its fingerprint is the version's."""
    tree: Tree = {}
    for attribute in version.attributes:
        *parents, leaf = split(attribute.path)
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = attribute.type
    return json.dumps({"type": "struct", "name": f"{name}.Value", "fields": _fields(tree)})


def _fields(tree: Tree) -> list[Tree]:
    return [
        {"field": name, "optional": True, "type": kind}
        if isinstance(kind, str)
        else {"field": name, "optional": True, "type": "struct", "fields": _fields(kind)}
        for name, kind in tree.items()
    ]


def leaves(raw: msgspec.Raw | bytes, paths: frozenset[str], prefix: str = "") -> dict[str, str]:
    """Read the values at the given paths of a payload, nulls left out."""
    found: dict[str, str] = {}
    for name, value in msgspec.json.decode(raw, type=dict[str, msgspec.Raw]).items():
        path = prefix + escape(name)
        if path not in paths:
            found |= leaves(value, paths, path + ".")
        elif bytes(value) != b"null":
            found[path] = bytes(value).decode()
    return found


def placed(outcome: MappedBatch, document: Document) -> set[Placed]:
    """Read what the kernel sent."""
    paths = {
        (entity.name, version.label): frozenset(a.path for a in version.attributes)
        for entity in document.cdm.schemas()
        for version in document.cdm.versions(entity.id)
    }
    sent = set()
    for text in outcome.messages():
        members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        entity, version = (msgspec.json.decode(members[name], type=str) for name in ("entity", "version"))
        sent.add((entity, version, tuple(sorted(leaves(members["payload"], paths[entity, version]).items()))))
    return sent


@given(steps, st.data())
def test_the_kernel_sends_what_sequential_mapping_sends_nulls_apart(history: Steps, data: st.DataObject) -> None:
    document = document_of(history)
    kernel = Kernel(compile_plan(document), choice="compiled", patience=0)
    for version in document.extraction.all_versions():
        schema = document.extraction.schema(version.schema_id)
        if document.extraction.named(schema.name) != schema:
            continue
        name = schema.name
        row = {a.path: data.draw(values) for a in version.attributes}
        payload = f'{{"before":null,"after":{row_text(row)},"source":{{"lsn":5}},"op":"c","ts_ms":7}}'
        raw = f'{{"schema":{schema_text(name, version)},"payload":{payload}}}'.encode()
        expected = {
            (message.entity, message.entity_version, tuple(sorted(kept.items())))
            for message in map_sequentially(document, version.id, row)
            if (kept := {path: text for path, text in message.payload.items() if text not in (None, "null")})
        }
        for _ in range(3):
            outcome = map_all(kernel, [raw])
            assert not outcome.set_aside, outcome.set_aside
            assert placed(outcome, document) == expected
            assert outcome.fates.tolist() == [RecordOutcome.MAPPED if expected else RecordOutcome.FILTERED]


@given(steps, st.data())
def test_production_sends_all_of_what_a_test_sends_of_a_version_or_nothing_and_says_which(
    history: Steps, data: st.DataObject
) -> None:
    document = document_of([("ask", 1), *history])
    test, production = Kernel(compile_plan(document)), held_kernel(document)
    for version in document.extraction.all_versions():
        schema = document.extraction.schema(version.schema_id)
        if document.extraction.named(schema.name) != schema:
            continue
        row = {a.path: data.draw(values) for a in version.attributes}
        payload = f'{{"before":null,"after":{row_text(row)},"source":{{"lsn":5}},"op":"c","ts_ms":7}}'
        raw = f'{{"schema":{schema_text(schema.name, version)},"payload":{payload}}}'.encode()
        waits = [b for b in document.matrix.column_set(version.id) if is_held(document, b)]
        for _ in range(3):
            outcome, as_test = map_all(production, [raw]), map_all(test, [raw])
            assert [row.reason for row in outcome.set_aside] == ["block_needs_review"] * bool(waits)
            assert outcome.messages() == ([] if waits else as_test.messages())
            assert outcome.by_version == as_test.by_version == {f"{schema.name}@{version.label}": 1}


def held_kernel(document: Document) -> Kernel:
    """Make a kernel that maps in production with blocks of every status, so that only what waits makes a difference."""
    return Kernel(compile_plan(document), "production")


NAMES = ("id", "a", "b", "c")
PLAN = plan_of(
    {
        "schemas": [
            {
                "name": f"srv.public.{table}",
                "versions": [
                    {
                        "label": str(number),
                        "paths": list(names),
                        "required": ["id"],
                        "key": key,
                        "blocks": [
                            {"entity": "e", "entity_version": "1", "targets": [[name, f"x.{name}"] for name in names]},
                            {"entity": "f", "entity_version": "2", "targets": [["a", "a"]], "is_unreviewed": True},
                        ],
                    }
                    for number, names in enumerate([NAMES[:2], NAMES])
                ],
            }
            for table, key in (("t", ["id"]), ("u", None))
        ]
    }
)


def envelope(table: str, op: str, row: list[str], before: list[str] | None) -> bytes:
    """Write an envelope as Debezium does."""
    new, old = (
        "null" if found is None else "{" + ",".join(f'"{n}":{v}' for n, v in zip(NAMES, found, strict=False)) + "}"
        for found in ((row, before) if op != "d" else (None, row))
    )
    names = f'"name":"srv","snapshot":"false","schema":"public","table":"{table}"'
    source = f'{{{names},"sequence":"[null,\\"5\\"]","lsn":5,"xmin":null}}'
    return f'{{"before":{old},"after":{new},"source":{source},"op":"{op}","ts_ms":1634052484031}}'.encode()


rows = st.one_of(st.lists(values, min_size=2, max_size=2), st.lists(values, min_size=4, max_size=4))
envelopes = st.builds(envelope, st.sampled_from("tu"), st.sampled_from("crud"), rows, st.one_of(st.none(), rows))
LOOKS_ALIKE = [
    envelope(table, op, row, before)
    for table in "tu"
    for op in "crud"
    for row in (["1", "2"], ["1", '"x"', "[1]", '{"k":"v"}'])
    for before in (None, row)
]


WITHOUT_ROWS = [
    b'{"ts_ms":1}',
    b'{"status":"BEGIN","id":"7","ts_ms":1,"event_count":null,"data_collections":null}',
    b'{"status":"END","id":"7","ts_ms":1,"event_count":1,"data_collections":[{"data_collection":"a","event_count":1}]}',
]
"""Records that are skipped, of which a kernel may learn too."""


def carried(value: bytes, key: bytes | None, headers: str = "") -> bytes:
    """Put an envelope into a wrapper as Kafka tools write it; headers are JSON, empty for none."""
    topic = "srv.public.u" if b'"table":"u"' in value else "srv.public.t"
    wrapper: Tree = {
        "topic": topic,
        "key": None if key is None else key.decode(),
        "value": value.decode("utf-8", "replace"),
    }
    wrapper |= {"partition": 0, "offset": 5, "timestamp": 6}
    text = json.dumps(wrapper, separators=(",", ":"), ensure_ascii=False)
    return (f'{text[:-1]},"headers":{headers}}}' if headers else text).encode()


keys = st.one_of(
    st.none(),
    st.just(b'{"id":1}'),
    values.map(lambda value: f'{{"id":{value}}}'.encode()),
    st.binary(max_size=5).map(lambda b: repr(b).encode()),
)
hostile = st.one_of(
    envelopes,
    mutations(envelopes),
    mutations(st.sampled_from(LOOKS_ALIKE)),
    st.builds(carried, st.one_of(envelopes, mutations(envelopes)), keys),
    mutations(st.builds(carried, st.sampled_from(LOOKS_ALIKE + WITHOUT_ROWS), keys, st.one_of(st.just(""), values))),
    st.builds(carried, mutations(st.sampled_from(WITHOUT_ROWS)), keys),
    mutations(st.sampled_from(LOOKS_ALIKE)).map(lambda text: b'{"schema":{"type":"struct"},"payload":' + text + b"}"),
    st.binary(max_size=60),
)

TAUGHT = Kernel(PLAN, choice="compiled", patience=0)
SLOW = Kernel(PLAN, choice="reference")
for _ in range(2):
    map_all(TAUGHT, LOOKS_ALIKE + WITHOUT_ROWS)
    map_all(TAUGHT, [carried(text, None) for text in WITHOUT_ROWS])
    map_all(TAUGHT, [carried(text, key) for text in LOOKS_ALIKE for key in (None, b'{"id":1}')])
    map_all(TAUGHT, [b'{"schema":{"type":"struct"},"payload":' + text + b"}" for text in LOOKS_ALIKE])


@given(st.lists(hostile, max_size=4))
def test_machine_code_and_the_reference_never_differ_on_anything(raws: list[bytes]) -> None:
    fast, slow = map_all(TAUGHT, raws), map_all(SLOW, raws)
    assert fast.messages() == slow.messages()
    assert fast.fates.tolist() == slow.fates.tolist()
    assert fast.set_aside == slow.set_aside
    assert fast.counts() == slow.counts()


def test_machine_code_maps_what_it_was_taught() -> None:
    rows = [text for text in LOOKS_ALIKE if b'"op":"d"' not in text]
    assert map_all(TAUGHT, rows + WITHOUT_ROWS).hits == len(rows + WITHOUT_ROWS)


@given(st.lists(st.one_of(hostile, st.binary()), max_size=6))
def test_every_record_has_one_fate_and_the_counts_add_up(raws: list[bytes]) -> None:
    outcome = map_all(TAUGHT, raws)
    counts: dict[str, Any] = outcome.counts()
    assert counts["read"] == len(raws) == sum(counts[fate] for fate in ("mapped", "filtered", "set_aside", "skipped"))
    assert counts["messages_out"] == len(outcome.messages()) == sum(counts["by_entity"].values())
    assert counts["set_aside"] == sum(counts["by_reason"].values())
    assert counts["skipped"] == sum(counts["by_skip"].values())
    assert counts["bytes_in"] == sum(map(len, raws))
    assert counts["bytes_out"] == sum(map(len, outcome.messages()))


@given(st.lists(hostile, max_size=4))
def test_what_is_sent_is_json_and_what_is_set_aside_gives_the_record_back(raws: list[bytes]) -> None:
    outcome = map_all(TAUGHT, raws)
    for text in outcome.messages():
        message = dict(judged(text).pairs)
        assert list(message)[:7] == ["entity", "version", "state", "op", "key", "ts_ms", "source"]
    for aside in outcome.set_aside:
        written = json.loads(aside.text)
        kept = written["raw"].encode() if "raw" in written else base64.b64decode(written["raw_base64"])
        assert kept == raws[aside.record]


@given(rows, st.sampled_from("cru"))
def test_every_value_leaves_as_the_bytes_it_came_in(row: list[str], op: str) -> None:
    outcome = map_all(TAUGHT, [envelope("t", op, row, None)])
    for entity, text in zip(outcome.sent_to(), outcome.messages(), strict=True):
        payload = msgspec.json.decode(text, type=dict[str, msgspec.Raw])["payload"]
        names = NAMES[: len(row)] if entity == "e" else ("a",)
        inner = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
        found = msgspec.json.decode(inner["x"], type=dict[str, msgspec.Raw]) if entity == "e" else inner
        # The newest version that fits maps members that are not there to null.
        kept = {name: bytes(raw).decode() for name, raw in found.items() if name in names}
        assert kept == {name: text for name, text in zip(NAMES, row, strict=False) if name in names}


def test_records_beyond_all_reason_are_set_aside() -> None:
    raws = [b"{" * 100_000, b"\xff", b"", b"{}", b'{"op":"c","after":2}', b'{"op":"c","after":[]}']
    assert map_all(Kernel(PLAN), raws).fates.tolist() == [RecordOutcome.SET_ASIDE] * len(raws)
