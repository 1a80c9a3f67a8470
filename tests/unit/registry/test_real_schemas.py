"""The untidy things people really have: every file is imported or refused with a reason."""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from functools import cache

import pytest

from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.schema_names import label_order
from metl_gui.registry.files import sources
from tests.helpers.cases import lines
from tests.helpers.shared import shared


@cache
def real_schemas() -> ReaderResult:
    return sources.read([shared("real-schemas")])


def refusals(reading: ReaderResult) -> Counter[str]:
    """Count refusals by what they have in common."""
    kinds = {
        "is a Protobuf schema": "protobuf", "is a Thrift schema": "thrift",
        "which is not in the file": "reference", "describes array": "array", "declares no properties": "nothing",
        "stands twice": "twice", "is a table": "csv", "Neither its name nor its content": "unknown",
    }  # fmt: skip
    return Counter(
        next((kind for part, kind in kinds.items() if part in refusal.reason), refusal.reason)
        for refusal in reading.refused
    )


def test_each_of_the_589_schema_files_is_imported_or_refused_with_a_reason() -> None:
    reading = real_schemas()
    assert len(reading.declarations) + len(reading.refused) == 591  # with a README and a CSV
    assert len(reading.declarations) == 563
    assert refusals(reading) == {
        "nothing": 10, "array": 9, "thrift": 2, "protobuf": 1, "reference": 2, "twice": 2, "csv": 1,
        "unknown": 1,
    }  # fmt: skip


def test_real_versions_are_labelled_named_once_and_handed_over_in_order() -> None:
    versions = defaultdict(list)
    for version in real_schemas().declarations:
        versions[version.name].append(version.label or "")
    assert len(versions) == 366
    assert all(labels == sorted(set(labels), key=label_order) and all(labels) for labels in versions.values())


def test_real_attributes_are_leaves_of_known_types() -> None:
    types = Counter(a.type for version in real_schemas().declarations for a in version.attributes)
    assert types == {
        "string": 7886, "integer": 1400, "boolean": 791, "map": 388, "number": 297, "array": 270, "struct": 31,
        "union": 28, "any": 7, "int64": 4,
    }  # fmt: skip


def test_the_attributes_that_the_gold_mapping_names_are_in_the_trees() -> None:
    with shared("real-schemas", "iglu-central", "gold-mapping.csv").open(encoding="utf-8", newline="") as file:
        gold = [(row["vendor"], row["schema"], row["model"], row["attribute"]) for row in csv.DictReader(file)]
    known = set()
    for version in real_schemas().declarations:
        vendor, _, name = version.name.partition("/")
        model = (version.label or "").split("-")[0]
        known |= {(vendor, _as_table_name(name), model, attribute.path) for attribute in version.attributes}
    missing = [one for one in gold if one not in known]
    assert len(gold) == 1218
    # Eight lie below an alert that may be a text as well, so it is a union and one leaf; one has a dot in its name.
    assert Counter(attribute.rpartition(".")[0] for *_, attribute in missing) == {
        "notification.userInfo.aps.alert": 8,
        "data": 1,
    }
    assert ("com.unbounce", "form_post", "1", "data\\.json") in known


def _as_table_name(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


SAMPLES = {
    "engine-postgres-with-schema.jsonl": [
        ("srv.inv.customers", ("id",), False, 29),
        ("srv.inv.customers", ("id",), False, 30),
        ("srv.inv.orders", ("id",), False, 3),
        ("srv.inv.nokey", (), False, 2),
    ],
    "engine-postgres-stream-noschema.jsonl": [
        ("srv.inv.customers", ("id",), True, 29),
        ("srv.inv.customers", ("id",), True, 30),
        ("srv.inv.orders", ("id",), True, 3),
        ("srv.inv.nokey", (), True, 2),
    ],
    "engine-postgres-unwrapped.jsonl": [
        ("srv.inv.customers", ("id",), True, 29),
        ("srv.inv.customers", ("id",), True, 30),
        ("srv.inv.orders", ("id",), True, 3),
        ("srv.inv.nokey", (), True, 2),
    ],
    "engine-postgres-cloudevents.jsonl": [
        ("srv.inv.customers", None, False, 29),
        ("srv.inv.orders", None, False, 3),
        ("srv.inv.nokey", None, False, 2),
    ],
}


@pytest.mark.parametrize("name", SAMPLES)
def test_captured_streams_give_the_versions_of_their_tables(name: str) -> None:
    reading = sources.read([shared("debezium-samples", name)])
    assert [(v.name, v.key, v.inferred, len(v.attributes)) for v in reading.declarations] == SAMPLES[name]
    assert not reading.refused


def test_inferred_paths_are_those_that_the_schema_declares() -> None:
    declared, inferred, unwrapped = (
        [
            [a.path for a in version.attributes]
            for version in sources.read([shared("debezium-samples", name)]).declarations
        ]
        for name in list(SAMPLES)[:3]
    )
    assert declared == inferred == unwrapped


def test_all_samples_together_are_imported_or_refused_by_count() -> None:
    reading = sources.read([shared("debezium-samples")])
    captured = [version for version in reading.declarations if version.name.startswith("srv.")]
    twice = [
        ("srv.inv.customers", False, 29),
        ("srv.inv.customers", False, 30),
        ("srv.inv.orders", False, 3),
        ("srv.inv.nokey", False, 2),
    ]
    assert sorted((v.name, v.inferred, len(v.attributes)) for v in captured) == sorted(2 * twice)
    assert len({(v.name, v.fingerprint) for v in captured}) == 4, "Avro and JSON with schemas say the same"
    assert len(reading.declarations) == 18
    reasons = [refusal.reason.split(". The first")[0] for refusal in reading.refused]
    assert [reason.split(":")[0] for reason in reasons if "records" in reason] == [
        "1 of 5 records cannot be used",
        "17 of 77 records cannot be used",
        "2 of 77 records cannot be used",
        "1 of 77 records cannot be used",
        "14 of 17 records cannot be used",
    ]
    assert len(reasons) == 6


def test_the_documented_all_types_schema_keeps_logical_names_and_scales() -> None:
    reading = sources.read([shared("debezium-samples", "engine-postgres-with-schema.jsonl")])
    written = dict(line.split(" ", 1) for line in lines(reading.declarations[0].attributes))
    assert written["id"] == "int32"
    assert written["credit"] == "bytes org.apache.kafka.connect.data.Decimal 2 optional"
    assert written["anynum"] == "struct io.debezium.data.VariableScaleDecimal optional"
    assert written["p"] == "struct io.debezium.data.geometry.Point optional"
    assert written["arr"] == "array optional"
