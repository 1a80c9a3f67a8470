"""Where records that were set aside are mended: every reason leads somewhere, or says why it cannot."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import AcceptLosses
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey
from metl_gui.core.runs.records import RecordOutcome, SetAsideRecord
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.mapping.preview import Previewer
from metl_gui.errors import LinkError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.link import Link, LinkPlace, PlaceKind
from metl_gui.workbench.links.places import look_at_place
from metl_gui.workbench.links.set_aside import REASONS, Mending, MendingPlace, mending_place
from metl_gui.workbench.session import Workbench
from tests.helpers import documents

from .conftest import declare

ORDERS = "fx.pay.orders"
_SCHEMA, _VERSION = LinkPlace(PlaceKind.SCHEMA, (1,)), LinkPlace(PlaceKind.SCHEMA, (1, 1))
_AMOUNT = LinkPlace(PlaceKind.CELL, (1, 3, 1, 3))


def aside(reason: str, detail: str = "", version: str | None = "1", schema: str | None = ORDERS) -> SetAsideRecord:
    return SetAsideRecord(reason, detail, 5, schema, version, "fx.pay.orders/0/7", raw="{}")


@pytest.fixture
def grown(mapped: Workbench) -> Workbench:
    """Two versions more: ``amount`` is lost in the first, and the second inherits that."""
    mapped.do(AddVersion(Side.EXTRACTION, declare(ORDERS, "2", "id", "customer_id", "legacy")))
    mapped.do(AddVersion(Side.EXTRACTION, declare(ORDERS, "3", "id", "customer_id", "legacy", "more")))
    return mapped


def key_of(workbench: Workbench, version: str) -> BlockKey:
    return find_block(workbench.document, f"{ORDERS}@{version}:payment@1")


def test_every_reason_of_the_reference_has_a_row_of_its_own() -> None:
    page = (documents.PAGES / "reference" / "set-aside.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) <= set(REASONS)


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (aside("malformed", "its text ends early", None, None), (Mending.LOOK, (_SCHEMA,), "")),
        (aside("undecodable", "too short", None), (Mending.SETTING, (_SCHEMA,), "framing")),
        (aside("unknown_schema", "no schema is called x", None, "x"), (Mending.ADD, (_SCHEMA,), "")),
        (aside("unknown_version", "no version has the members a", None), (Mending.ADD, (_SCHEMA,), "")),
        (
            aside("ambiguous_version", "the versions 1, 1 fit; 1 maps amount to payment@1 amount, and 1 does not"),
            (Mending.LOOK, (_AMOUNT, _AMOUNT), ""),
        ),
        (
            aside("ambiguous_version", "the versions 1, 2 fit and give different messages", None),
            (Mending.SETTING, (_SCHEMA,), "version_field"),
        ),
        (
            aside("block_needs_review", "fx.pay.orders@1:payment@1 needs review: amount"),
            (Mending.LOOK, (LinkPlace(PlaceKind.BLOCK, (1, 1)),), ""),
        ),
        (
            aside("type_mismatch", 'payment@1 amount takes a decimal with 2 places, and not "x"'),
            (Mending.LOOK, (_AMOUNT,), ""),
        ),
        (
            aside("type_mismatch", "payment@1 amount takes a number, and not 1", "gone"),
            (Mending.LOOK, (LinkPlace(PlaceKind.ENTITY, (1, 1, 3)),), ""),
        ),
        (aside("type_mismatch", "payment@9 amount takes a number, and not 1"), (Mending.LOOK, (_VERSION,), "")),
        (aside("no_key", "a delete with neither a message key nor a known key"), (Mending.SETTING, (_VERSION,), "key")),
        (aside("too_large", "the record has 9 bytes", None, None), (Mending.LOOK, (_SCHEMA,), "")),
        (aside("too_late", "compacted"), (Mending.LOOK, (_VERSION,), "")),
        (aside("of_tomorrow", "nobody knows"), (Mending.LOOK, (_VERSION,), "")),
    ],
)
def test_each_reason_leads_to_its_cell_its_decision_or_its_setting(
    mapped: Workbench, record: SetAsideRecord, expected: tuple[Mending, tuple[LinkPlace, ...], str]
) -> None:
    found = mending_place(mapped.document, record)
    assert (found.mending, found.places, found.setting) == expected
    assert found.words.endswith(".")


def test_what_no_schema_is_known_of_says_so_and_leads_nowhere(mapped: Workbench) -> None:
    record = SetAsideRecord("malformed", "no JSON", 5, None, None, "/captured/else.jsonl@3", raw="{")
    assert mending_place(mapped.document, record) == MendingPlace(
        "No mapping mends it: what writes this schema must write proper JSON."
    )


def test_a_held_record_leads_to_the_item_that_decides_it_and_then_to_who_decided(grown: Workbench) -> None:
    record = aside("block_needs_review", f"{ORDERS}@3:payment@1 needs review: amount", "3")
    found = mending_place(grown.document, record)
    assert (found.mending, found.places) == (Mending.REVIEW, (LinkPlace(PlaceKind.REVIEW, key_of(grown, "2")),))
    grown.do(AcceptLosses(key_of(grown, "2"), ("amount",)))
    found = mending_place(grown.document, record)
    assert found.places == (LinkPlace(PlaceKind.BLOCK, key_of(grown, "3")),)
    assert "decided by tess" in found.words


def set_aside_by_the_kernel(workbench: Workbench, raw: bytes) -> SetAsideRecord:
    """Map one record as a preview does, and return the row that a run would keep of it."""
    previewer = Previewer()
    previewer.take(workbench.document)
    done = previewer.map(raw, f"{ORDERS}/0/1")
    assert done.fate is RecordOutcome.SET_ASIDE
    return SetAsideRecord(done.reason, done.detail, 5, done.schema or None, done.version or None, done.position)


def wrapped(row: object, topic: str = ORDERS) -> bytes:
    value = {"op": "d" if row is None else "c", "before": None, "after": row, "source": {"table": "orders"}}
    return json.dumps({"topic": topic, "value": value}).encode()


def test_what_the_kernel_says_of_versions_that_fit_is_read_as_the_two_cells(grown: Workbench) -> None:
    key = key_of(grown, "3")
    block = grown.document.matrix.block(*key)
    assert block is not None
    grown.do(SetElements(key, zeros=block.elements[:1]))
    record = set_aside_by_the_kernel(grown, wrapped({"id": "1", "customer_id": "2", "legacy": "3"}))
    assert record.reason == "ambiguous_version"
    lacks, maps = mending_place(grown.document, record).places
    assert (lacks.ids[0], lacks.ids[3]) == (key[0], block.elements[0].q)
    assert (maps.kind, maps.ids[0], maps.ids[3]) == (PlaceKind.CELL, key_of(grown, "2")[0], block.elements[0].q)


@pytest.mark.parametrize(
    ("raw", "reason", "kind"),
    [
        (b'{"topic": "fx.pay.orders", "value": {"op": ', "malformed", PlaceKind.SCHEMA),
        (wrapped({"nothing": 1}), "unknown_version", PlaceKind.SCHEMA),
        (wrapped(None), "no_key", PlaceKind.SCHEMA),
    ],
)
def test_what_the_kernel_sets_aside_leads_to_its_schema(
    mapped: Workbench, raw: bytes, reason: str, kind: PlaceKind
) -> None:
    record = set_aside_by_the_kernel(mapped, raw)
    assert record.reason == reason
    assert mending_place(mapped.document, record).places[0].kind is kind


def report_of(errors: Path) -> dict[str, object]:
    """Make the report of a run that set one record aside."""
    names = ("read", "mapped", "filtered", "set_aside", "skipped", "messages_out", "bytes_in", "bytes_out")
    return dict.fromkeys(names, 0) | {
        **{name: {} for name in ("from_unreviewed", "by_entity", "by_skip")},
        "run_id": "r1",
        "mode": "test",
        "spark": "local",
        "state": 5,
        "hash": "",
        "seconds": 1.0,
        "records_per_second": 0.0,
        "by_reason": {"type_mismatch": 1},
        "errors": str(errors),
    }


def test_the_link_of_a_record_says_where_it_is_mended_and_no_value_of_it(mapped: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "errors" / "reason=type_mismatch"
    folder.mkdir(parents=True)
    detail = 'payment@1 amount takes a number, and not "secret"'
    row = {
        "reason": "type_mismatch",
        "detail": detail,
        "schema": ORDERS,
        "version": "1",
        "position": "a@1",
        "raw": "{}",
    }
    (folder / "part-0.jsonl").write_text(json.dumps(row) + "\n")
    mapped.do(SetSettings(Side.EXTRACTION, 1, (("ask", "always"),)))
    mapped.add_run(report_of(tmp_path / "errors"), [])
    place = LinkPlace(PlaceKind.SET_ASIDE, run="r1", reason="type_mismatch", position="a@1")
    shown = look_at_place(mapped, Link(mapped.project_id, mapped.document.state, place))
    assert any("/cell/1/3/1/3#" in fact for fact in shown.facts)
    assert "secret" not in " ".join(shown.facts)
    gone = Link(mapped.project_id, mapped.document.state, replace(place, position="b@2"))
    assert "not kept any more" in " ".join(look_at_place(mapped, gone).facts)


@pytest.mark.parametrize("reason", ["type_mismatch", "ambiguous_version", "block_needs_review"])
@pytest.mark.parametrize("part", ["a@x takes ", "@ ", " maps a to a@a a, and ", "the versions 1 fit; ", "@"])
def test_a_hostile_detail_is_given_up_and_not_taken_apart_in_all_ways(
    mapped: Workbench, reason: str, part: str
) -> None:
    record = aside(reason, "the versions 1 fit; 1 maps " + part * 2_000, None)
    assert mending_place(mapped.document, record).places == (_SCHEMA,)


def test_what_a_value_says_of_cells_is_not_believed(mapped: Workbench) -> None:
    value = '"payment@9 gone takes a number, and not 1"'
    record = aside("type_mismatch", f"payment@1 amount takes a number, and not {value}")
    assert mending_place(mapped.document, record).places == (_AMOUNT,)


def test_a_link_to_a_run_of_a_damaged_project_or_store_says_so(mapped: Workbench, tmp_path: Path) -> None:
    folder = tmp_path / "errors" / "reason=type_mismatch"
    folder.mkdir(parents=True)
    (folder / "part-0.jsonl").write_bytes(b'{torn\n[]\n\xff\n{"reason": 5}\n')
    link = Link(
        mapped.project_id, mapped.document.state, LinkPlace(PlaceKind.SET_ASIDE, run="r1", reason="type_mismatch")
    )
    for errors in (tmp_path / "errors", Path("a\0b"), Path("a" * 5_000)):
        mapped.add_run(report_of(errors), [])
        assert look_at_place(mapped, link).facts[-1] == "Its records are not kept any more."
    mapped.add_run({"run_id": "r1", "mode": 5}, [])
    with pytest.raises(LinkError, match="cannot be read"):
        look_at_place(mapped, link)
