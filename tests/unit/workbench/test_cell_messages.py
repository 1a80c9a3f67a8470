"""Messages that a cell had a part in: among what runs kept, and among samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.progress import Watch
from metl_gui.core.runs.records import MappedRecord, SentMessage
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.link import LinkPlace, PlaceKind
from metl_gui.workbench.links.places import UsedMessage, link_to, look_at_place
from metl_gui.workbench.samples.cell_messages import (
    CellUse,
    cell_use,
    newest_run_using,
    records_using,
    sample_using,
)
from metl_gui.workbench.samples.preview import Previews
from metl_gui.workbench.samples.project_samples import Sample
from metl_gui.workbench.session import Workbench
from metl_gui.workbench.user_folders import run_folder

from .conftest import declare

ORDERS = "fx.pay.orders"


def use_of(workbench: Workbench, target: str, block: str = "fx.pay.orders@1:payment@1") -> CellUse:
    key = find_block(workbench.document, block)
    found = workbench.document.matrix.block(*key)
    attribute = workbench.document.cdm.version(key[1]).at_path(target)
    assert found is not None
    assert attribute is not None
    use = cell_use(workbench.document, key, next(each for each in found.elements if each.q == attribute.id))
    assert use is not None
    return use


def raw_of(row: Mapping[str, object]) -> bytes:
    return json.dumps({"topic": ORDERS, "value": {"op": "c", "after": row, "source": {"table": "orders"}}}).encode()


def keep(workbench: Workbench, folder: Path, *rows: Mapping[str, object]) -> Path:
    """Keep what rows become, as a run does."""
    previews = Previews.of_project(workbench)
    previews.take(workbench.document)
    lines = []
    for at, row in enumerate(rows):
        messages = previews.of(raw_of(row)).messages
        sent = tuple(SentMessage(each.entity, msgspec.Raw(each.text or b"null")) for each in messages)
        lines.append(msgspec.json.encode(MappedRecord(f"f@{at}", sent, raw=raw_of(row).decode())) + b"\n")
    (folder / "samples").mkdir(parents=True)
    (folder / "samples" / "part-0.jsonl").write_bytes(b"".join(lines))
    return folder


def test_only_records_in_which_the_cell_mapped_a_value_are_found(mapped: Workbench, tmp_path: Path) -> None:
    folder = keep(
        mapped,
        tmp_path / "run",
        {"id": "1", "customer_id": "2", "amount": None, "legacy": "x"},
        {"id": "2", "customer_id": "2", "amount": "3", "legacy": "x"},
        {"id": "3", "customer_id": "2", "amount": "4", "legacy": "x"},
    )
    samples = folder / "samples"
    assert [each.place for each in records_using(samples, use_of(mapped, "amount"), 9)] == ["f@1", "f@2"]
    assert [each.place for each in records_using(samples, use_of(mapped, "amount"), 1)] == ["f@1"]
    assert len(records_using(samples, use_of(mapped, "payment_id"), 9)) == 3
    refund = use_of(mapped, "refund_id", "fx.pay.orders@1:refund@1")
    assert len(records_using(samples, refund, 9)) == 3


def test_a_message_of_another_version_does_not_use_the_cell(mapped: Workbench, tmp_path: Path) -> None:
    folder = keep(mapped, tmp_path / "run", {"id": "1", "customer_id": "2", "amount": "3", "legacy": "x"})
    mapped.do(AddVersion(Side.EXTRACTION, declare(ORDERS, "2", "id", "customer_id", "amount", "legacy", "more")))
    newer = use_of(mapped, "amount", "fx.pay.orders@2:payment@1")
    assert records_using(folder / "samples", newer, 9) == []


def test_the_newest_run_that_keeps_such_a_message_is_found_and_those_without_are_passed(
    mapped: Workbench, tmp_path: Path
) -> None:
    empty = {"id": "1", "customer_id": "2", "amount": None, "legacy": "x"}
    full = empty | {"amount": "3"}
    folders = [
        tmp_path / "gone",
        keep(mapped, tmp_path / "b", empty),
        keep(mapped, tmp_path / "c", full),
        keep(mapped, tmp_path / "d", full),
    ]
    use = use_of(mapped, "amount")
    assert newest_run_using(folders, use) == tmp_path / "c"
    assert newest_run_using(folders[:2], use) is None
    assert newest_run_using(folders, use, Watch(is_cancelled=lambda: True)) is None
    assert newest_run_using([tmp_path / "gone"] * 20 + folders, use) is None


def test_a_sample_that_uses_the_cell_is_found(mapped: Workbench) -> None:
    previews = Previews.of_project(mapped)
    previews.take(mapped.document)
    rows: list[Mapping[str, object]] = [{"id": "1", "customer_id": "2", "amount": None}, {"id": "2", "amount": "3"}]
    samples = [Sample(1, 1, "c", "", 0, "", f"s@{at}", raw_of(row), None) for at, row in enumerate(rows)]
    found = sample_using(previews, samples, use_of(mapped, "amount"))
    assert found is samples[1]
    assert sample_using(previews, samples, use_of(mapped, "legacy_code")) is None


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{}", b"\xff", b'{"source": 1}', b'{"source": {"schema": []}}', b"[" * 9_999],
)
def test_what_is_no_message_uses_no_cell(mapped: Workbench, text: bytes) -> None:
    assert not use_of(mapped, "amount").is_in_message(text)


@pytest.mark.parametrize(("key", "element"), [((9, 1), (1, 1)), ((1, 9), (1, 1)), ((1, 1), (99, 1))])
def test_a_cell_that_is_not_there_is_used_by_nothing(
    mapped: Workbench, key: BlockKey, element: tuple[int, int]
) -> None:
    assert cell_use(mapped.document, key, Element(*element)) is None


def test_a_link_to_a_cell_tells_where_messages_of_the_last_run_lay_that_used_it(
    mapped: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    use = use_of(mapped, "amount")
    (v, w), (q, p) = use.key, use.element
    link = link_to(mapped.project_id, mapped.document, LinkPlace(PlaceKind.CELL, (v, p, w, q)))
    assert look_at_place(mapped, link).messages == ()
    full = {"id": "1", "customer_id": "2", "amount": "3", "legacy": "x"}
    for run_id in ("older", "newer"):
        mapped.add_run({"run_id": run_id, "state": 5}, [])
        keep(mapped, run_folder(mapped.project_id, run_id), full | {"amount": None}, full)
    assert look_at_place(mapped, link).messages == (UsedMessage("newer", "f@1"),)
