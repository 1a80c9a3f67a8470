from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from tests.helpers.fx_files import (
    FX,
    Line,
    counts,
    entities,
    imported,
    keys,
    kinds,
    leaves,
    mapping,
    versions,
    waiting,
)

KINDS = {"r", "c", "u", "d", "t", "tombstone", "heartbeat", "transaction", "message", "hostile"}
UNAVAILABLE = "__debezium_unavailable_value"


def all_lines() -> list[tuple[str, Line]]:
    return [(kind, line) for lines in kinds().values() for kind, line in lines if line is not None]


def escaped(column: str) -> str:
    return column.replace("\\", "\\\\").replace(".", "\\.")


def blocks() -> dict[tuple[str, str, str, str], list[tuple[str, str]]]:
    found = defaultdict(list)
    for row in mapping():
        block = (row["schema"], row["schema_version"], row["entity"], row["entity_version"])
        found[block].append((row["attribute"], row["cdm_attribute"]))
    return dict(found)


def test_fifteen_tables_of_five_services_have_four_to_eight_versions_each() -> None:
    assert len(versions()) == 15
    assert len({name.split(".")[1] for name in versions()}) == 5
    assert {len(found) for found in versions().values()} == {4, 5, 6, 7, 8}


def test_no_version_repeats_another_of_its_table() -> None:
    for name, found in versions().items():
        assert len(set(found)) == len(found), name


def test_every_kind_of_step_was_made_by_the_alter_tables() -> None:
    steps: Counter[str] = Counter()
    for found in versions().values():
        for before, after in pairwise(found):
            old, new = ({column[0]: column for column in version} for version in (before, after))
            steps["gone"] += bool(old.keys() - new.keys())
            steps["new"] += bool(new.keys() - old.keys())
            steps["retyped"] += any(old[name][1:4] != new[name][1:4] for name in old.keys() & new.keys())
    assert min(steps["gone"], steps["new"], steps["retyped"]) >= 10


def test_at_least_5000_changes_of_rows_and_every_kind_of_record_are_there() -> None:
    found = Counter(kind for lines in kinds().values() for kind, _ in lines)
    assert set(found) == KINDS
    assert sum(found[kind] for kind in "rcudt") >= 5000
    assert 12 <= found["hostile"] <= 20


def test_an_independent_count_of_the_files_equals_counts_json() -> None:
    columns = [column for column in counts()["totals"] if column != "lines"]
    measured = {name: Counter(kind for kind, _ in lines) for name, lines in kinds().items()}
    assert set(columns) == KINDS
    for name, row in counts()["files"].items():
        assert row == {"lines": measured[name].total(), **{kind: measured[name][kind] for kind in columns}}
    together = sum(measured.values(), Counter[str]())
    assert counts()["totals"] == {"lines": together.total(), **{kind: together[kind] for kind in columns}}
    assert counts()["rows"] == sum(together[kind] for kind in "rcudt")
    assert counts()["files"].keys() == measured.keys()


def test_the_hostile_lines_of_counts_json_are_the_ones_a_strict_reader_refuses() -> None:
    hostile = kinds()["cdc/hostile.jsonl"]
    refused = [number for number, (kind, _) in enumerate(hostile, 1) if kind == "hostile"]
    assert [place["line"] for place in counts()["hostile_lines"]] == refused
    assert len(hostile) > 3 * len(refused)


def test_rows_per_version_in_counts_json_agree_with_the_columns_of_the_rows() -> None:
    measured: dict[tuple[str, frozenset[str]], Counter[str]] = defaultdict(Counter)
    for kind, line in all_lines():
        if kind in set("rcud"):
            measured[line.topic, frozenset(line.value["before" if kind == "d" else "after"])][kind] += 1
    stated: dict[tuple[str, frozenset[str]], Counter[str]] = defaultdict(Counter)
    for name, per_version in counts()["versions"].items():
        for label, row in per_version.items():
            columns = frozenset(column[0] for column in versions()[name][int(label) - 1])
            stated[name, columns] += Counter(row)
    assert measured == stated


def test_every_version_of_every_table_carries_rows() -> None:
    for name, found in versions().items():
        per_version = counts()["versions"][name]
        assert list(per_version) == [str(number) for number in range(1, len(found) + 1)]
        assert min(sum(row.values()) for row in per_version.values()) >= 8


def test_the_folder_stays_below_ten_megabytes() -> None:
    files = [path for path in FX.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 10_000_000


def test_every_row_of_the_mapping_names_what_exists() -> None:
    newest = dict(sorted(entities()))
    for row in mapping():
        found = imported()[row["schema"]][int(row["schema_version"]) - 1]
        assert row["attribute"] in {escaped(column[0]) for column in found}, row
        assert row["entity_version"] == newest[row["entity"]]
        assert row["cdm_attribute"] in leaves(entities()[row["entity"], row["entity_version"]]), row


def test_no_block_of_the_mapping_uses_an_attribute_twice() -> None:
    for block, elements in blocks().items():
        for side in zip(*elements, strict=True):
            assert len(set(side)) == len(side), block


def test_schemas_feed_two_entities_entities_have_several_schemas_and_two_schemas_feed_none() -> None:
    feeds = {(schema, entity) for schema, _, entity, _ in blocks()}
    per_schema, per_entity = (Counter(pair[side] for pair in feeds) for side in (0, 1))
    assert sum(count == 2 for count in per_schema.values()) == 4
    assert sum(count > 1 for count in per_entity.values()) == 5
    assert imported().keys() - per_schema.keys() == {"fx.accounts.card", "fx.rates.curve"}


def test_a_mapped_schema_is_mapped_in_all_its_imported_versions() -> None:
    for schema, entity in {(schema, entity) for schema, _, entity, _ in blocks()}:
        labels = [version for name, version, target, _ in blocks() if (name, target) == (schema, entity)]
        assert labels == [str(number) for number in range(1, len(imported()[schema]) + 1)]


def test_the_waiting_version_makes_two_blocks_smaller_and_empties_none() -> None:
    topic, newest = waiting()
    assert newest not in imported()[topic]
    columns = {column[0] for column in newest}
    before = {column[0] for column in imported()[topic][-1]}
    last = str(len(imported()[topic]))
    lost = {
        entity: sorted(target for source, target in elements if source not in columns)
        for (schema, version, entity, _), elements in blocks().items()
        if (schema, version) == (topic, last)
    }
    assert lost == {"payment": ["legacy_code", "payer_id"], "ledger_entry": ["source.code"]}
    assert columns - before == {"customer_ref", "channel"}
    assert before - columns == {"customer_id", "legacy_code"}


def test_messages_of_the_waiting_version_are_among_the_captured_ones() -> None:
    topic, _ = waiting()
    rows = [line for kind, line in all_lines() if line.topic == topic and kind in set("cu")]
    assert sum("customer_ref" in line.value["after"] for line in rows) >= 50


@pytest.mark.parametrize("name", sorted(f"cdc/{path.name}" for path in (FX / "cdc").iterdir()))
def test_key_and_value_carry_schemas_in_the_files_that_say_so_and_in_no_others(name: str) -> None:
    lines = [line for kind, line in kinds()[name] if line is not None and kind != "t"]
    assert {line.wrapped for line in lines} == {name.endswith(".with-schemas.jsonl")}


def test_there_are_a_composite_key_a_table_without_key_and_a_column_with_a_dot() -> None:
    assert keys()["fx.rates.daily"] == ("base", "quote", "day")
    assert keys()["fx.rates.tick"] == ()
    assert "address.country" in {column[0] for column in versions()["fx.customers.person"][-1]}
    assert "address\\.country" in {row["attribute"] for row in mapping()}


def test_only_the_table_with_replica_identity_full_says_what_a_row_was() -> None:
    told = {line.topic for kind, line in all_lines() if kind == "u" and line.value["before"] is not None}
    assert told == {"fx.accounts.account"}


def test_a_key_change_is_a_delete_a_tombstone_and_a_create_that_name_each_other() -> None:
    changes = [(kind, line) for kind, line in all_lines() if line.headers]
    assert [kind for kind, _ in changes] == ["d", "tombstone", "c"] * (len(changes) // 3)
    assert len(changes) == 3 * counts()["marks"]["key_changes"] >= 9
    for (_, old), (_, tombstone), (_, new) in zip(*[iter(changes)] * 3, strict=True):
        assert json.loads(new.headers["__debezium.oldkey"]) == old.key == tombstone.key
        assert json.loads(old.headers["__debezium.newkey"]) == new.key
    assert UNAVAILABLE in {line.value["after"].get("memo") for kind, line in changes if kind == "c"}


def test_unchanged_large_texts_are_left_out_of_updates() -> None:
    lines = [line for kind, line in all_lines() if kind in set("ruc") and UNAVAILABLE in line.value["after"].values()]
    assert len(lines) == counts()["marks"]["unavailable"] >= 10
    assert {line.topic for line in lines} == {"fx.payments.orders", "fx.customers.person"}


def test_records_of_a_topic_stand_at_different_offsets() -> None:
    places = Counter((line.topic, line.wrapper["offset"]) for _, line in all_lines())
    assert places.most_common(1)[0][1] == 1


def test_six_entities_have_two_versions_each_with_descriptions_and_a_key() -> None:
    assert Counter(name for name, _ in entities()) == dict.fromkeys(
        ["account", "customer", "ledger_entry", "payment", "rate", "refund"], 2
    )
    for document in entities().values():
        assert document["description"]
        assert set(document["required"]) <= set(document["properties"])
        assert set(document["x-primary-key"]) <= set(leaves(document))


def test_a_row_without_schema_fits_two_mappings_only_in_the_first_version_of_adjustment() -> None:
    fitting_two = set()
    for name, found in imported().items():
        outcomes = [
            {
                (entity, target, source)
                for (o, v, entity, _), pairs in blocks().items()
                for source, target in pairs
                if (o, v) == (name, str(number))
            }
            for number in range(1, len(found) + 1)
        ]
        for number, version in enumerate(found, 1):
            present = {column[0] for column in version}
            fits = [
                outcomes[other]
                for other, candidate in enumerate(found)
                if {c[0] for c in candidate if not c[4]} <= present <= {c[0] for c in candidate}
            ]
            if any(outcome != fits[0] for outcome in fits):
                fitting_two.add((name, number))
    assert fitting_two == {("fx.ledger.adjustment", 1)}


def test_the_counts_in_the_readme_are_those_of_counts_json() -> None:
    text = (FX / "README.md").read_text(encoding="utf-8")
    for name, row in [*counts()["files"].items(), ("**all**", counts()["totals"])]:
        assert f"| {name} | {' | '.join(str(number) for number in row.values())} |" in text


def test_every_table_with_local_times_states_where_they_hold_and_no_other_does() -> None:
    local = "io.debezium.time.MicroTimestamp"
    tables = {name for name, found in versions().items() if any(column[2] == local for one in found for column in one)}
    lines = (FX / "settings.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "schema,setting,value"
    assert sorted(lines[1:]) == sorted(f"{name},time_zone,UTC" for name in tables)
