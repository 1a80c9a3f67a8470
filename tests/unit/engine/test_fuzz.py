"""A small run of the fuzzer, the same on every day: both kernels make the same of it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from metl_gui.engine.kernel.compiled import build, layout
from metl_gui.engine.kernel.plan import BlockPlan, Plan, SchemaPlan, VersionPlan
from metl_gui.engine.kernel.records import Records
from tests.fuzz.differences import differences
from tests.fuzz.kernels import Pair, Setting
from tests.fuzz.minimise import minimised, read_failure, write_failure
from tests.fuzz.plans import twin_table
from tests.fuzz.rounds import Failure, play
from tests.fuzz.samples import samples, world_of_samples

needs_compiler = pytest.mark.skipif(not build.is_possible(), reason="numba is not installed")


@needs_compiler
@pytest.mark.parametrize("number", range(4))
def test_both_kernels_make_the_same_of_a_round_of_hostile_records(number: int) -> None:
    played = play(f"suite:{number}", count=5)
    assert played.failure is None, played.failure.found
    assert played.messages


@needs_compiler
def test_both_kernels_make_the_same_of_real_records_and_machine_code_maps_most_that_are_not_set_aside() -> None:
    raws = [raw for raw in samples() if b"value_b64" not in raw]
    pair = Pair(Setting(world_of_samples().plan, "test"))
    hits = []
    for _ in range(3):
        assert pair.differ(Records.of(raws, "f")) == []
        hits.append(pair.hits)
    kept = pair.reference.map(Records.of(raws, "f")).counts()
    assert hits[2] - hits[1] > (int(str(kept["read"])) - int(str(kept["set_aside"]))) // 2


@needs_compiler
def test_rows_whose_names_have_one_hash_are_told_apart_by_their_names() -> None:
    for seed in range(5):
        table = twin_table(Random(seed), "s")
        first, second = (version.plan.paths for version in table.versions)
        pair = Pair(Setting(Plan(17, "", (table.plan,)), "test"))
        hashes = set()
        for names in (first, second, first, second, (first[0], second[1])):
            row = json.dumps(dict(zip(names, (1, 2), strict=True)), separators=(",", ":"))
            raw = f'{{"topic":"s","value":{{"after":{row},"op":"u"}}}}'.encode()
            assert pair.differ(Records.of([raw] * 3, "f")) == []
            hashes.add(hash_of_rows(pair))
        assert len(hashes) == 2, "the pairs of names have one hash, a mixture of them another"
        assert pair.hits >= 9


def hash_of_rows(pair: Pair) -> int:
    """Return the hash of the names of the last row that machine code has seen."""
    driver = pair.compiled._machine.loaded
    assert driver is not None
    shape = int(driver.tables.heads[(layout.AFTER * layout.HEAD_BYTES + layout.HEAD_SHAPE) // layout.WORD])
    return next(int(mixed) for mixed, number in driver.tables.shapes.entries.tolist() if number == shape != 0)


@needs_compiler
def test_a_message_key_is_read_where_it_stands_beside_a_schema_or_without_one() -> None:
    blocks = (BlockPlan("e", "1", (("id", "i"), ("a", "a"))),)
    versions = (VersionPlan(label="1", fingerprint="", paths=("id", "a"), blocks=blocks),)
    pair = Pair(Setting(Plan(17, "", (SchemaPlan("s", versions),)), "test"))
    forms = ('{{"id":{0}}}', '{{"schema":{{"type":"struct"}},"payload":{{"id":{0}}}}}', '{{"payload":{{"id":{0}}}}}')
    for number in range(30):
        key = json.dumps(forms[number % 3].format(number))
        raw = f'{{"topic":"s","key":{key},"value":{{"after":{{"id":0,"a":2}},"op":"u"}}}}'.encode()
        assert pair.differ(Records.of([raw], "f")) == []
    assert pair.hits >= 20


@needs_compiler
def test_a_failure_is_made_small_written_and_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def differ(_self: Pair, records: Records) -> list[str]:
        return ["a z"] if any(b"z" in raw for raw in records) else []

    monkeypatch.setattr(Pair, "differ", differ)
    batches = (Records.of([b"abc", b"def"], "f"), Records.of([b"ghi", b"xyz", b"jkl"], "f"))
    failure = minimised(Failure("1:2", Setting(world_of_samples().plan, "test"), batches, ("a z",)))
    assert [list(records) for records in failure.batches] == [[b"z"]]
    again = read_failure(write_failure(failure, tmp_path))
    assert [list(records) for records in again.batches] == [[b"z"]]
    assert again.setting == failure.setting


@needs_compiler
def test_outcomes_that_differ_are_told_apart_by_what_differs() -> None:
    plan, records = world_of_samples().plan, Records.of(list(samples()), "f")
    one, other = (Pair(Setting(plan, "test", is_replay)).reference.map(records) for is_replay in (False, True))
    assert differences(one, one) == []
    assert differences(one, other)[0].startswith("message 0: ")
