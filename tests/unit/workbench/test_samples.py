"""Samples: what is kept of which messages, how many and how long, what the project gets, and hostile caches."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metl_gui.core.edits.settings import AddAlias, MaskAttribute
from metl_gui.core.suggest.values import values_alike
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import EditError, ProjectLockedError, RunError
from metl_gui.workbench.samples.cache import MOST_FILE_BYTES, MOST_SAMPLE_BYTES, KeptSample, SampleCache
from metl_gui.workbench.samples.kept_samples import (
    MOST_OF_VERSION,
    chosen,
    exclude_samples,
    forget_samples,
    hide_in_included,
    include_samples,
    keep_message,
    keep_run_samples,
    keep_samples,
    sample_overview,
)
from metl_gui.workbench.samples.project_samples import ProjectSamples
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import KEPT_SECONDS

NOW_MS = time.time_ns() // 1_000_000
ORDERS = "fx.pay.orders"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def record(topic: str = ORDERS, op: str = "c", **row: Any) -> bytes:
    after = {"id": "1", "customer_id": "C-7", "amount": "5", "legacy": None} | row
    return json.dumps({"topic": topic, "value": {"before": None, "after": after, "op": op}}).encode()


def write(folder: Path, *records: bytes, name: str = "messages.jsonl") -> str:
    path = folder / name
    path.write_bytes(b"\n".join(records))
    return str(path)


def schema_id(workbench: Workbench) -> int:
    schema = workbench.document.extraction.named(ORDERS)
    assert schema is not None
    return schema.id


def mask(workbench: Workbench, path: str) -> None:
    version = workbench.document.extraction.version(1)
    attribute = version.at_path(path)
    assert attribute is not None
    workbench.do(MaskAttribute(Side.EXTRACTION, version.id, attribute.id))


def test_every_message_that_was_read_is_kept_or_counted(mapped: Workbench, tmp_path: Path) -> None:
    big = record(legacy="x" * MOST_SAMPLE_BYTES)
    source = write(tmp_path, record(), record(id="2"), record("nobody"), b"{", big, b"null")
    kept = keep_samples(mapped, source)
    assert (kept.read, kept.kept, kept.no_schema, kept.too_large) == (6, 2, 3, 1)
    assert kept.schemas == (ORDERS,)
    assert not kept.problem


def test_a_source_that_is_not_there_keeps_nothing_and_says_so(mapped: Workbench, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="does not exist"):
        keep_samples(mapped, str(tmp_path / "none.jsonl"))
    assert SampleCache(mapped.project_id).schemas() == ()


def test_samples_lie_in_the_cache_under_the_project_and_no_value_of_them_in_the_project_file(
    mapped: Workbench, tmp_path: Path
) -> None:
    keep_samples(mapped, write(tmp_path, record(customer_id="VERYSECRET-1"), record(customer_id="VERYSECRET-2")))
    cache = SampleCache(mapped.project_id)
    assert cache.folder == tmp_path / "cache" / "metl-gui" / "samples" / mapped.project_id
    assert cache.folder.stat().st_mode & 0o077 == 0
    mapped.close()
    dump = "\n".join(sqlite3.connect(mapped.path).iterdump())
    assert "VERYSECRET" not in dump
    assert "AAAA" in dump or "A+" in dump, "only the pattern"


def test_a_profile_tells_types_fill_patterns_lengths_and_how_many_differ(mapped: Workbench, tmp_path: Path) -> None:
    keep_samples(mapped, write(tmp_path, record(amount=5), record(amount=12.5), record(id="2", legacy="L-16")))
    profile = mapped.kept.samples.profile(schema_id(mapped))
    assert profile is not None
    assert profile.rows == 3
    amount, legacy = profile.of_path("amount"), profile.of_path("legacy")
    assert amount is not None
    assert legacy is not None
    assert dict(amount.types) == {"integer": 1, "number": 1, "string": 1}
    assert (legacy.filled, legacy.patterns, legacy.shortest, legacy.longest, legacy.distinct) == (
        0.333, ("A-99",), 4, 4, 1,
    )  # fmt: skip


def test_of_masked_attributes_a_profile_tells_types_and_fill_only(mapped: Workbench, tmp_path: Path) -> None:
    mask(mapped, "customer_id")
    keep_samples(mapped, write(tmp_path, record(), record(id="2")))
    profile = mapped.kept.samples.profile(schema_id(mapped))
    assert profile is not None
    found = profile.of_path("customer_id")
    assert found is not None
    assert (found.types, found.filled) == ((("string", 2),), 1.0)
    assert (found.patterns, found.shortest, found.longest, found.distinct) == ((), 0, 0, 0)


def test_a_profile_that_was_kept_before_a_mask_is_shown_without_what_speaks_of_values(
    mapped: Workbench, tmp_path: Path
) -> None:
    keep_samples(mapped, write(tmp_path, record()))
    mask(mapped, "customer_id")
    (overview,) = sample_overview(mapped)
    (found,) = [each for each in overview.as_json()["profile"] if each["path"] == "customer_id"]
    assert (found["patterns"], found["longest"], found["distinct"]) == ([], 0, 0)


def test_of_many_alike_messages_the_newest_stay_and_rare_forms_are_not_pushed_out() -> None:
    alike = [KeptSample.of(b"%d" % at, when_ms=NOW_MS + at, op="c", shape="a", version="1") for at in range(500)]
    rare = KeptSample.of(b"rare", when_ms=NOW_MS - 5, op="d", shape="b", version="1")
    other = KeptSample.of(b"other", when_ms=NOW_MS - 9, op="c", shape="a", version="2")
    stay = chosen([*alike, rare, other])
    assert len([each for each in stay if each.version == "1"]) == MOST_OF_VERSION
    assert rare in stay
    assert other in stay
    assert alike[-1] in stay
    assert alike[0] not in stay


def test_the_same_message_is_kept_once_however_often_it_comes(mapped: Workbench, tmp_path: Path) -> None:
    source = write(tmp_path, record(), record())
    keep_samples(mapped, source)
    keep_samples(mapped, source)
    assert len(SampleCache(mapped.project_id).read(schema_id(mapped))) == 1


def test_samples_grow_too_old(mapped: Workbench) -> None:
    cache, id_ = SampleCache(mapped.project_id), schema_id(mapped)
    old = NOW_MS - KEPT_SECONDS * 1000 - 60_000
    cache.write(id_, [KeptSample.of(record(), when_ms=old), KeptSample.of(record(id="2"), when_ms=NOW_MS)])
    assert [each.when_ms for each in cache.read(id_)] == [NOW_MS]


def test_files_nobody_added_to_for_long_go_when_the_next_sample_is_kept(mapped: Workbench, tmp_path: Path) -> None:
    import os

    gone = SampleCache("another-project")
    gone.write(1, [KeptSample.of(record(), when_ms=NOW_MS)])
    long_ago = time.time() - KEPT_SECONDS - 60
    os.utime(gone.folder / "1.jsonl", (long_ago, long_ago))
    keep_samples(mapped, write(tmp_path, record()))
    assert gone.schemas() == ()
    assert SampleCache(mapped.project_id).schemas() == (schema_id(mapped),)


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda whole: whole[: len(whole) // 2],
    "not utf-8": lambda whole: b"\xff\xfe" + whole,
    "no json": lambda whole: b"{{{{\n" + whole,
    "another shape": lambda whole: b'[1,2]\n{"when_ms":"now"}\n{"when_ms":1e400}\n' + whole,
    "from the future": lambda _whole: b'{"when_ms":%d,"raw":"{}"}\n' % (NOW_MS + 10**12),
    "bad base64": lambda _whole: b'{"when_ms":%d,"raw_base64":"%%%%"}\n' % NOW_MS,
    "of another schema": lambda _whole: json.dumps({"when_ms": NOW_MS, "raw": record("fx.pay").decode()}).encode(),
    "deeply nested": lambda whole: b"[" * 100_000 + b"\n" + whole,
    "huge": lambda whole: b"x" * (MOST_FILE_BYTES + 1) + b"\n" + whole,
    "empty": lambda _whole: b"",
}  # fmt: skip


@pytest.mark.parametrize("how", HOSTILE)
def test_a_cache_that_somebody_wrote_into_gives_what_is_sound_and_nothing_else(
    mapped: Workbench, tmp_path: Path, how: str
) -> None:
    keep_samples(mapped, write(tmp_path, record(), record(id="2")))
    path = SampleCache(mapped.project_id).folder / f"{schema_id(mapped)}.jsonl"
    path.write_bytes(HOSTILE[how](path.read_bytes()))
    shelf = ProjectSamples(mapped)
    found = shelf.of(mapped.document, schema_id(mapped))
    assert {each.raw for each in found} <= {record(), record(id="2")}
    assert keep_samples(mapped, write(tmp_path, record(id="3"))).kept == 1
    shelf.refresh()
    assert record(id="3") in {each.raw for each in shelf.of(mapped.document, schema_id(mapped))}


@pytest.mark.logs("samples cannot be kept in .*File exists")
def test_a_cache_that_is_a_file_is_said_and_stops_nothing(mapped: Workbench, tmp_path: Path) -> None:
    folder = SampleCache(mapped.project_id).folder
    folder.parent.mkdir(parents=True)
    folder.write_text("no folder")
    kept = keep_samples(mapped, write(tmp_path, record()))
    assert (kept.kept, kept.problem) == (0, f"Samples cannot be kept in {folder}.")
    assert ProjectSamples(mapped).of(mapped.document, schema_id(mapped)) == ()
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_what_a_run_kept_is_taken_over_with_what_it_set_aside(mapped: Workbench, tmp_path: Path) -> None:
    samples, errors = tmp_path / "samples", tmp_path / "errors" / "reason=unknown_version"
    samples.mkdir()
    errors.mkdir(parents=True)
    lines = [{"place": "x@0", "outgoing": [], "raw": record().decode()}]
    (samples / "part-0.jsonl").write_text("\n".join(map(json.dumps, lines)))
    aside = {"reason": "unknown_version", "position": "x@1", "raw": record(unheard=1).decode()}
    (errors / "part-0.jsonl").write_text(json.dumps(aside))
    kept = keep_run_samples(mapped, samples, str(errors.parent), "r1")
    assert (kept.kept, kept.schemas) == (2, (ORDERS,))
    shelf = ProjectSamples(mapped)
    assert {(each.place, each.version, each.source) for each in shelf.of(mapped.document, schema_id(mapped))} == {
        ("x@0", 1, "run r1"),
        ("x@1", None, "run r1"),
    }


@pytest.mark.logs("run r1 can be read: Input data was truncated")
def test_what_is_left_of_a_damaged_run_is_taken_over_without_a_word(mapped: Workbench, tmp_path: Path) -> None:
    (tmp_path / "part-0.jsonl").write_bytes(b'{"place":"x@0","outgo')
    assert keep_run_samples(mapped, tmp_path, str(tmp_path / "none"), "r1").kept == 0


def test_a_sample_of_a_version_that_comes_later_belongs_to_it_from_then_on(mapped: Workbench) -> None:
    from metl_gui.core.edits.versions import AddVersion
    from tests.unit.workbench.conftest import declare

    keep_message(mapped, record(unheard=1))
    shelf, id_ = ProjectSamples(mapped), schema_id(mapped)
    assert [each.version for each in shelf.of(mapped.document, id_)] == [None]
    added = declare(ORDERS, "2", "id", "customer_id", "amount", "legacy", "unheard")
    mapped.do(AddVersion(Side.EXTRACTION, added))
    newest = mapped.document.extraction.newest(id_)
    assert newest is not None
    assert [each.version for each in shelf.of(mapped.document, id_)] == [newest.id]


def test_messages_under_an_alias_are_samples_of_the_schema(mapped: Workbench) -> None:
    assert keep_message(mapped, record("legacy.orders")).kept == 0
    mapped.do(AddAlias(Side.EXTRACTION, schema_id(mapped), "legacy.orders"))
    assert keep_message(mapped, record("legacy.orders")).schemas == (ORDERS,)


def test_forgetting_leaves_no_sample_and_no_file(mapped: Workbench, tmp_path: Path) -> None:
    keep_samples(mapped, write(tmp_path, record()))
    assert forget_samples(mapped) == 1
    assert sample_overview(mapped) == ()
    assert not SampleCache(mapped.project_id).folder.exists()
    assert forget_samples(mapped) == 0


def test_included_samples_go_with_the_project_without_masked_values_until_they_are_excluded(
    mapped: Workbench, tmp_path: Path
) -> None:
    mask(mapped, "customer_id")
    keep_samples(mapped, write(tmp_path, record(customer_id="VERYSECRET")))
    assert include_samples(mapped, ORDERS) == 1
    forget_samples(mapped)
    (sample,) = ProjectSamples(mapped).of(mapped.document, schema_id(mapped))
    assert b"VERYSECRET" not in sample.raw
    assert b'"amount":"5"' in sample.raw.replace(b" ", b"")
    (overview,) = sample_overview(mapped)
    assert overview.is_included
    assert exclude_samples(mapped, ORDERS)
    assert not exclude_samples(mapped, ORDERS)
    assert ProjectSamples(mapped).of(mapped.document, schema_id(mapped)) == ()


def test_what_is_masked_later_is_hidden_in_included_samples_too(mapped: Workbench, tmp_path: Path) -> None:
    keep_samples(mapped, write(tmp_path, record(customer_id="VERYSECRET")))
    include_samples(mapped, ORDERS)
    assert b"VERYSECRET" in mapped.kept.samples.included_text(schema_id(mapped))
    mask(mapped, "customer_id")
    hide_in_included(mapped)
    assert b"VERYSECRET" not in mapped.kept.samples.included_text(schema_id(mapped))


def test_samples_that_come_after_including_go_into_the_project_too(mapped: Workbench, tmp_path: Path) -> None:
    keep_samples(mapped, write(tmp_path, record()))
    include_samples(mapped, ORDERS)
    keep_samples(mapped, write(tmp_path, record(id="2")))
    assert mapped.kept.samples.included_text(schema_id(mapped)).count(b"\n") == 2


def test_included_samples_do_not_grow_too_old(mapped: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_message(mapped, record())
    include_samples(mapped, ORDERS)
    forget_samples(mapped)
    later = time.time_ns() + 2 * KEPT_SECONDS * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    assert len(ProjectSamples(mapped).of(mapped.document, schema_id(mapped))) == 1


def test_a_project_that_is_read_only_keeps_samples_and_takes_none_in(mapped: Workbench, tmp_path: Path) -> None:
    mapped.close()
    with Workbench.open(mapped.path, for_editing=False) as reader:
        assert keep_samples(reader, write(tmp_path, record())).kept == 1
        with pytest.raises(ProjectLockedError):
            include_samples(reader, ORDERS)
        with pytest.raises(EditError, match="no schema"):
            include_samples(reader, "nobody")


def test_values_are_those_of_the_version_or_else_of_the_same_attribute_elsewhere(
    mapped: Workbench, tmp_path: Path
) -> None:
    from metl_gui.core.edits.versions import AddVersion
    from tests.unit.workbench.conftest import declare

    keep_samples(mapped, write(tmp_path, record(), record(customer_id="C-8", op="u"), record(op="d", customer_id="X")))
    mapped.do(AddVersion(Side.EXTRACTION, declare(ORDERS, "2", "id", "customer_id", "extra")))
    newest = mapped.document.extraction.newest(schema_id(mapped))
    assert newest is not None
    shelf, document = ProjectSamples(mapped), mapped.document
    values = shelf.values(document, document, newest.id)
    named = {attribute.path: values.get(attribute.id) for attribute in newest.attributes}
    assert set(named["customer_id"] or ()) == {"C-7", "C-8"}
    assert named["extra"] is None


def test_what_feeds_an_attribute_gives_it_its_values(mapped: Workbench, tmp_path: Path) -> None:
    keep_samples(mapped, write(tmp_path, record(), record(customer_id="C-8")))
    shelf, document = ProjectSamples(mapped), mapped.document
    target = document.cdm.version(1)
    values = shelf.target_values(document, document, target.id)
    named = {attribute.path: values.get(attribute.id, ()) for attribute in target.attributes}
    assert set(named["payer_id"]) == {"C-7", "C-8"}
    mask(mapped, "customer_id")
    masked = mapped.document
    assert not set(shelf.target_values(masked, masked, target.id)) & {
        attribute.id for attribute in target.attributes if attribute.path == "payer_id"
    }


def test_alike_values_are_evidence_for_a_suggestion_and_masked_ones_are_not(mapped: Workbench, tmp_path: Path) -> None:
    from metl_gui.workbench.mapping.suggestions import SuggestionQuery, suggest

    people = [f"C-{at}" for at in range(10, 20)]
    other = b'{"topic":"fx.pay","value":{"orders":"%s","id":"%d"}}'
    messages = [record(customer_id=each) for each in people]
    messages += [other % (each.encode(), at) for at, each in enumerate(people)]
    keep_samples(mapped, write(tmp_path, *messages))
    shelf, document = ProjectSamples(mapped), mapped.document

    def found(document: Any) -> list[Any]:
        alike = lambda key: shelf.alike(document, document, key)  # noqa: E731 - as the callers have it
        return [
            each
            for each in suggest(document, SuggestionQuery("fx.pay", "payment"), alike=alike).suggestions
            if (each.names.from_path, each.names.to_path) == ("orders", "payer_id")
        ]

    (suggestion,) = found(document)
    assert "alike values (C-1" in suggestion.reason
    mask(mapped, "customer_id")
    assert not any("alike values" in each.reason for each in found(mapped.document))


@pytest.mark.parametrize(
    ("ours", "theirs", "are_alike"),
    [
        (("EUR", "USD", "CHF"), ("USD", "EUR", "CHF", "GBP"), True),
        (("C-1001", "C-1002", "C-1003"), ("C-2001", "C-2002", "C-2003"), True),
        (("ada@one.org", "bo@two.net", "cy@three.com"), ("dee@four.org", "eve@five.net", "flo@six.com"), True),
        (("true", "false"), ("true", "false"), False),
        (("1", "2", "3", "4"), ("1", "2", "3", "4"), False),
        (("red", "green", "blue"), ("one", "two", "three"), False),
        (("12.50", "13.75", "99.10"), ("1.20", "44.50", "20.00"), False),
        (("2025-01-01", "2025-01-02", "2025-01-03"), ("2024-02-01", "2024-03-02", "2024-04-03"), False),
        ((), ("EUR", "USD", "CHF"), False),
    ],
)
def test_values_are_alike_where_they_are_the_same_or_have_a_telling_form(
    ours: tuple[str, ...], theirs: tuple[str, ...], are_alike: bool
) -> None:
    assert (values_alike(ours, theirs) > 0) is are_alike
