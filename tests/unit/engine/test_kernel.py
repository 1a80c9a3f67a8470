"""What the kernel makes of records, by cases: messages to the byte, fates, reasons and counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.core.trees.declarations import fingerprint
from metl_gui.engine.kernel import plan as plans
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Choice, Kernel
from metl_gui.formats.connect_schema import declare
from tests.helpers.cases import cases
from tests.helpers.plans import FATES, map_all, plan_of, row
from tests.helpers.shared import shared


@pytest.mark.parametrize("choice", ["reference", "compiled"])
@pytest.mark.parametrize("case", cases("kernel"))
def test_records_become_what_the_contract_says(case: dict[str, Any], choice: Choice) -> None:
    plan = plans.decode(plans.encode(plan_of(case)))
    raws = [record.encode() for record in case["records"]]
    kernel = Kernel(plan, case.get("mode", "test"), choice=choice, patience=0)
    for _ in range(3):
        outcome = kernel.map(Records.of(raws, "f", range(0, 100 * len(raws), 100)))
        if "messages" in case:
            assert [text.decode() for text in outcome.messages()] == case["messages"]
        if "fates" in case:
            assert [FATES[RecordOutcome(fate)] for fate in outcome.fates] == case["fates"]
        assert [aside.reason for aside in outcome.set_aside] == case.get("reasons", [])
        if "details" in case:
            assert [json.loads(aside.text)["detail"] for aside in outcome.set_aside] == case["details"]
        counts = outcome.counts()
        assert {name: counts[name] for name in case.get("counts", {})} == case.get("counts", {})


ONE = plan_of(
    {
        "schemas": [
            {
                "name": "s",
                "versions": [
                    {
                        "label": "1",
                        "paths": ["id"],
                        "key": ["id"],
                        "blocks": [{"entity": "e", "entity_version": "1", "targets": [["id", "i"]]}],
                    }
                ],
            }
        ]
    }
)


def test_a_record_that_is_set_aside_keeps_its_exact_text() -> None:
    raw = '{"topic":"s","partition":0,"offset":5,"value":{"after":{"id":1, "é":"\\u00e9"},"op":"c"}}'.encode()
    outcome = map_all(Kernel(ONE), [raw])
    assert row(outcome) == {
        "reason": "unknown_version",
        "detail": "no version has the members id, é",
        "state": 17,
        "schema": "s",
        "version": None,
        "position": "s/0/5",
        "raw": raw.decode(),
    }
    assert list(row(outcome)) == ["reason", "detail", "state", "schema", "version", "position", "raw"]


@pytest.mark.parametrize("choice", ["compiled", "reference"])
def test_why_no_version_fits_is_said_of_the_newest_that_has_all_members(choice: Choice) -> None:
    versions: list[dict[str, Any]] = [
        {"label": "1", "paths": ["id", "to.city", "old"], "key": ["id"], "required": ["id"]},
        {"label": "2", "paths": ["id", "to.city", "to.a\\.b", "no"], "key": ["id"], "required": ["id", "no"]},
    ]
    wanted = {
        '{"id":1,"no":2,"to":{"city":"x","new":1}}': "version 2 has no to.new",
        '{"id":1,"no":2,"to":{"a.b":1,"a":{"b":1}}}': "version 2 has no to.a",
        '{"id":1,"no":2,"to":"x"}': "to is no object, and version 2 looks into it",
        '{"to":null}': "the row lacks id, no, which version 2 requires",
        '{"old":1,"to":{}}': "the row lacks id, which version 1 requires",
        '{"id":1,"no":2,"new":{"a":1}}': "no version has the members id, no, new",
        "{}": "no version has the members (none)",
    }
    raws = [f'{{"topic":"s","value":{{"after":{row},"op":"c"}}}}'.encode() for row in wanted]
    deleted = b'{"topic":"s","key":{"other":1},"value":{"before":null,"after":null,"op":"d"}}'
    kernel = Kernel(plan_of({"schemas": [{"name": "s", "versions": versions}]}), choice=choice, patience=0)
    details = [json.loads(aside.text)["detail"] for aside in map_all(kernel, [*raws, deleted]).set_aside]
    assert details == [*wanted.values(), "no version has the key other"]


def test_a_record_that_is_not_utf8_is_kept_in_base64() -> None:
    outcome = map_all(Kernel(ONE), [b'{"topic":"s","value":"\xff"}'])
    assert row(outcome)["reason"] == "malformed"
    assert row(outcome)["raw_base64"] == "eyJ0b3BpYyI6InMiLCJ2YWx1ZSI6Iv8ifQ=="
    assert "raw" not in row(outcome)


def test_a_record_of_which_only_the_beginning_was_read_is_too_large() -> None:
    outcome = Kernel(ONE).map(Records.of([b'{"a":"', b"null"], "f", [0, 900], sizes=[800, 4]))
    assert outcome.fates.tolist() == [RecordOutcome.SET_ASIDE, RecordOutcome.SKIPPED]
    assert (outcome.bytes_in, row(outcome)["reason"], row(outcome)["raw"]) == (804, "too_large", '{"a":"')


def test_a_schema_in_the_message_decides_by_its_fingerprint_alone() -> None:
    fields = {name: [{"field": "id", "type": name, "optional": False}] for name in ("int32", "int64", "string")}
    schemas: dict[str, Any] = {name: {"type": "struct", "fields": fields[name], "name": "s.Value"} for name in fields}
    blocks = [{"entity": "e", "entity_version": "1", "targets": [["id", "i"]]}]
    versions = [
        {
            "label": name,
            "paths": ["id"],
            "key": ["id"],
            "blocks": blocks,
            "fingerprint": fingerprint(declare(schemas[name])),
        }
        for name in ("int32", "int64")
    ]
    kernel = Kernel(plan_of({"schemas": [{"name": "s", "versions": versions}]}))
    raws = [json.dumps({"schema": schemas[name], "payload": {"id": 1}}).encode() for name in fields]
    outcome = map_all(kernel, raws)
    assert [json.loads(text)["source"]["version"] for text in outcome.messages()] == ["int32", "int64"]
    assert [aside.reason for aside in outcome.set_aside] == ["unknown_version"]


def test_versions_whose_types_were_inferred_are_told_by_paths_although_the_message_has_a_schema() -> None:
    schema = {"type": "struct", "fields": [{"field": "id", "type": "int32"}], "name": "s.Value"}
    inferred = {"label": "1", "paths": ["id"], "key": ["id"], "is_inferred": True}
    kernel = Kernel(plan_of({"schemas": [{"name": "s", "versions": [inferred]}]}))
    assert map_all(kernel, [json.dumps({"schema": schema, "payload": {"id": 1}}).encode()]).fates.tolist() == [
        RecordOutcome.FILTERED
    ]


def test_names_that_messages_carry_are_written_as_json() -> None:
    plan = plan_of(
        {
            "schemas": [
                {
                    "name": 's"\n',
                    "versions": [
                        {
                            "label": '"1"',
                            "paths": ['a"', "b\\.c"],
                            "blocks": [
                                {
                                    "entity": "é\\",
                                    "entity_version": "\t",
                                    "targets": [['a"', 'x.y"'], ["b\\.c", "d\\.e"]],
                                }
                            ],
                        }
                    ],
                }
            ]
        }
    )
    raw = json.dumps({"topic": 's"\n', "value": {"after": {'a"': 1, "b.c": 2}, "op": "c"}, "partition": 0, "offset": 1})
    message = json.loads(map_all(Kernel(plan), [raw.encode()]).message(0))
    assert (message["entity"], message["version"], message["source"]["version"]) == ("é\\", "\t", '"1"')
    assert message["source"]["position"] == 's"\n/0/1'
    assert message["payload"] == {"x": {'y"': 1}, "d.e": 2}


@pytest.mark.parametrize("name", ["stream-noschema", "with-schema", "unwrapped", "cloudevents", "avro-wire"])
def test_every_sample_of_the_engine_ends_in_one_fate_without_a_crash(name: str) -> None:
    raws = shared("debezium-samples", f"engine-postgres-{name}.jsonl").read_bytes().splitlines()
    outcome = map_all(Kernel(ONE), raws)
    counts = outcome.counts()
    assert counts["read"] == len(raws) == len(outcome.fates)
    assert {aside.reason for aside in outcome.set_aside} == {
        "unknown_version" if name == "avro-wire" else "unknown_schema"
    }
