"""One record at a time is mapped as the kernel of a test run maps it, whatever it is and whatever was edited before."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metl_gui.core.edits.settings import AddAlias, SetSettings
from metl_gui.core.matrix.document import Document
from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import VersionPlan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping import plan_compiler as compiling
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.engine.mapping.preview import OneOutcome, Previewer
from tests.helpers.world import World

NAMES = ["fx.pay.orders", "fx.pay.refunds", "legacy.orders", "nobody", "", "__debezium-heartbeat.fx"]
MEMBERS = ["id", "amount", "code", "who", "op", "ts_ms", "type", "data", "status"]
EDITS = [("id", "payment_id"), ("amount", "value"), ("code", "note"), ("who", "note")]


def make_world() -> World:
    """Two schemas, one with an alias, that feed one entity; a version that looks like a signal among them."""
    world = World()
    world.schema("fx.pay.orders", "1", "id", "amount")
    world.schema("fx.pay.orders", "2", "id", "amount", "code")
    world.schema("fx.pay.refunds", "1", "id", "type", "data")
    world.entity("payment", "1", "payment_id", "value", "note")
    world.map("fx.pay.orders@1:payment@1", payment_id="id")
    world.map("fx.pay.orders@2:payment@1", payment_id="id")
    world.map("fx.pay.refunds@1:payment@1", payment_id="id", note="data")
    schema = world.document.extraction.named("fx.pay.orders")
    assert schema is not None
    world.do(AddAlias(Side.EXTRACTION, schema.id, "legacy.orders"))
    return world


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.text(max_size=5),
    st.just("__debezium_unavailable_value"),
)
rows = st.dictionaries(st.sampled_from(MEMBERS), scalars, max_size=5)


@st.composite
def records(draw: st.DrawFn) -> bytes:
    """Draw a record: an envelope, a row, a wrapper of either, a CloudEvent, or text that is broken."""
    row = draw(rows)
    name = draw(st.sampled_from(NAMES))
    server, _, rest = name.partition(".")
    source = {"name": server, "schema": rest.partition(".")[0], "table": rest.rpartition(".")[2]}
    op = draw(st.sampled_from("crudtmx"))
    before = draw(st.one_of(st.none(), rows))
    envelope: dict[str, Any] = {"before": before, "after": None if op == "d" else row, "op": op, "source": source}
    content: Any = draw(
        st.sampled_from([envelope, row, None, [], 5, {"schema": {"type": "struct"}, "payload": envelope}])
    )
    if draw(st.booleans()):
        key = draw(st.one_of(st.none(), st.just({"id": 1})))
        content = {"topic": name, "value": json.dumps(content) if draw(st.booleans()) else content, "key": key}
    text = json.dumps(content, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 9)) == 0 else text


def by_kernel(document: Document, raw: bytes) -> MappedBatch:
    return Kernel(compile_plan(document), choice="reference").map(Records.of([raw], "f"))


def assert_same(one: OneOutcome, whole: MappedBatch) -> None:
    assert one.fate == RecordOutcome(int(whole.fates[0]))
    assert [message.text for message in one.messages] == whole.messages()
    assert [message.block.entity for message in one.messages] == whole.sent_to()
    assert [str(one.kind)] == list(whole.by_skip) or not whole.by_skip
    if whole.set_aside:
        told = json.loads(whole.set_aside[0].text)
        assert (one.reason, one.detail) == (told["reason"], told["detail"])
        assert (one.schema or None, one.version or None) == (told["schema"], told["version"])
        assert one.position == told["position"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(records(), st.integers(0, len(EDITS) - 1)), min_size=1, max_size=8))
def test_a_preview_is_what_the_kernel_writes_for_the_same_record_between_any_edits(steps: list[bytes | int]) -> None:
    world, previewer = make_world(), Previewer()
    previewer.take(world.document)
    for step in steps:
        if isinstance(step, bytes):
            assert_same(previewer.map(step, "f@0"), by_kernel(world.document, step))
            continue
        source, target = EDITS[step]
        pairs = world.pairs("fx.pay.orders@2:payment@1")
        if (source, target) in pairs:
            world.do(world.clearing("fx.pay.orders@2:payment@1", source, target))
        elif source != "who" and not any(source == p or target == q for p, q in pairs):
            world.map("fx.pay.orders@2:payment@1", **{target: source})
        previewer.take(world.document)


def test_an_edit_compiles_again_only_the_version_that_it_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    whole = compiling._version

    def counting(document: Document, version: Version, *rest: Any) -> VersionPlan:
        compiled.append(version.label)
        return whole(document, version, *rest)

    monkeypatch.setattr(compiling, "_version", counting)
    world, previewer = make_world(), Previewer()
    raw = b'{"topic":"fx.pay.orders","value":{"id":1,"amount":2}}'
    previewer.take(world.document)
    previewer.map(raw, "f@0")
    assert compiled == ["1", "2"]
    world.map("fx.pay.orders@2:payment@1", value="amount")
    previewer.take(world.document)
    previewer.map(raw, "f@0")
    assert compiled == ["1", "2", "2"]


def test_settings_of_a_schema_hold_in_the_next_preview() -> None:
    world, previewer = make_world(), Previewer()
    raw = b'{"topic":"fx.pay.orders","value":{"id":"gone","amount":2}}'
    previewer.take(world.document)
    assert b'"payment_id":"gone"' in previewer.map(raw, "f@0").messages[0].text
    schema = world.document.extraction.named("fx.pay.orders")
    assert schema is not None
    world.do(SetSettings(Side.EXTRACTION, schema.id, (("placeholder", "gone"),)))
    previewer.take(world.document)
    assert b'"unchanged":["payment_id"]' in previewer.map(raw, "f@0").messages[0].text


@pytest.mark.parametrize("name", ["fx.pay.orders", "legacy.orders"])
def test_a_record_is_recognized_by_name_and_alias(name: str) -> None:
    world, previewer = make_world(), Previewer()
    previewer.take(world.document)
    found = previewer.recognize(json.dumps({"topic": name, "value": {"id": 1, "amount": 2, "code": 3}}).encode())
    assert found is not None
    assert found.schema.name == "fx.pay.orders"
    assert found.version == world.version(Side.EXTRACTION, "fx.pay.orders", "2").id


def test_a_record_of_no_known_version_is_recognized_by_its_schema_alone() -> None:
    world, previewer = make_world(), Previewer()
    previewer.take(world.document)
    found = previewer.recognize(b'{"topic":"fx.pay.orders","value":{"unheard":1}}')
    assert found is not None
    assert (found.schema.name, found.version) == ("fx.pay.orders", None)
    assert previewer.recognize(b'{"topic":"nobody","value":{"id":1}}') is None
    assert previewer.recognize(b"{") is None
