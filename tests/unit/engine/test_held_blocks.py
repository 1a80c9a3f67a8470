"""What waits for a person is held whole: in production nothing of its messages is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metl_gui.core.runs.run_spec import Mode
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.mapping.kernel import Kernel
from tests.helpers.plans import map_all, plan_of, row

HELD = {"entity": "payment", "entity_version": "2", "is_held": True, "is_unreviewed": True, "waits": "memo is gone"}
SURE = {"entity": "ledger", "entity_version": "1", "targets": [["id", "ref"]]}


def world(*held: dict[str, Any], sure: dict[str, Any] | None = SURE) -> Plan:
    """Make a schema of two versions: one with confirmed blocks, one with blocks as given beside a confirmed one."""
    first = [{"entity": "payment", "entity_version": "2", "targets": [["id", "no"], ["memo", "note"]]}, SURE]
    second = [*held, *([sure] if sure else [])]
    versions = [
        {"label": "1", "paths": ["id", "memo"], "required": ["id", "memo"], "key": ["id"], "blocks": first},
        {"label": "2", "paths": ["id", "sum"], "required": ["id", "sum"], "key": ["id"], "blocks": second},
    ]
    return plan_of({"schemas": [{"name": "fx.pay.t", "versions": versions}]})


def change(op: str, **columns: Any) -> bytes:
    sides = {"before": columns if op == "d" else None, "after": None if op in "dt" else columns}
    source = {"name": "fx", "schema": "pay", "table": "t", "lsn": 7}
    return json.dumps({**sides, "source": source, "op": op, "ts_ms": 1}, separators=(",", ":")).encode()


def mapped(plan: Plan, raws: list[bytes], mode: Mode) -> MappedBatch:
    return map_all(Kernel(plan, mode), raws)


@pytest.mark.parametrize("targets", [[["id", "no"]], []], ids=["some left", "emptied"])
def test_one_held_block_keeps_all_messages_of_its_version_back_and_of_no_other(targets: list[list[str]]) -> None:
    plan = world({**HELD, "targets": targets})
    raws = [change(op, id=n, **rest) for n in range(20) for op in "crud" for rest in ({"memo": "x"}, {"sum": n})]
    outcome = mapped(plan, raws, "production")
    assert outcome.counts()["set_aside"] == 80
    assert outcome.counts()["by_reason"] == {"block_needs_review": 80}
    assert outcome.counts()["by_entity"] == {"payment": 80, "ledger": 80}
    assert {json.loads(text)["source"]["version"] for text in outcome.messages()} == {"1"}
    assert row(outcome)["detail"] == "fx.pay.t@2:payment@2 needs review: memo is gone"
    assert (row(outcome)["schema"], row(outcome)["version"]) == ("fx.pay.t", "2")


def test_a_test_maps_the_same_records_and_counts_what_nobody_confirmed() -> None:
    raws = [change("c", id=n, sum=n) for n in range(20)]
    outcome = mapped(world({**HELD, "targets": [["id", "no"]]}), raws, "test")
    assert outcome.counts()["by_entity"] == {"payment": 20, "ledger": 20}
    assert outcome.from_unreviewed == {"payment": 20}
    assert not outcome.set_aside


def test_every_record_whose_version_was_told_is_counted_by_it_whatever_became_of_it() -> None:
    plan = world({**HELD, "targets": []})
    raws = [*(change("c", id=n, memo="m") for n in range(9)), *(change("c", id=n, sum=1) for n in range(4))]
    raws += [change("c", id=None, memo=None), change("t"), change("c", other=1)]
    outcome = mapped(plan, raws, "production")
    assert outcome.by_version == {"fx.pay.t@1": 10, "fx.pay.t@2": 4}
    assert outcome.counts()["filtered"] == 1


def test_a_truncate_goes_where_a_confirmed_block_leads_although_another_one_is_held() -> None:
    outcome = mapped(world({**HELD, "targets": [["id", "no"]]}), [change("t")], "production")
    assert sorted(outcome.sent_to()) == ["ledger", "payment"]
    assert not outcome.from_unreviewed


def test_a_truncate_waits_while_only_held_blocks_lead_to_one_of_its_entities() -> None:
    alone = {"entity": "remark", "entity_version": "1", "targets": [["id", "no"]], "is_held": True}
    outcome = mapped(world(alone), [change("t")], "production")
    assert outcome.messages() == []
    assert row(outcome)["detail"] == "fx.pay.t@2:remark@1 needs review"


def test_a_replayed_message_differs_from_the_first_one_by_nothing_but_saying_so() -> None:
    raws = [change("c", id=n, memo="m") for n in range(5)]
    first = map_all(Kernel(world()), raws)
    again = map_all(Kernel(world(), is_replay=True), raws)
    assert again.messages() == [text[:-1] + b',"replayed":true}' for text in first.messages()]
