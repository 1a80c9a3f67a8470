"""Cells whose sampled values typed columns refuse: counted, named by kind, never of what is masked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import MaskAttribute
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import BlockKey, Element
from metl_gui.core.progress import Watch
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.type_verdicts import TypeVerdict, type_verdict
from metl_gui.errors import RunCancelled
from metl_gui.workbench.addresses import find_block, find_leaf
from metl_gui.workbench.samples.kept_samples import keep_samples
from metl_gui.workbench.samples.project_samples import ProjectSamples
from metl_gui.workbench.samples.refused_values import RefusedCells, RefusedValueIndex
from metl_gui.workbench.session import Workbench

from .conftest import declare

SCHEMA = "fx.pay.lines"


@pytest.fixture
def typed(workbench: Workbench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    """A schema whose types are not known, mapped to an entity of numbers, with samples."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    workbench.do(AddVersion(Side.CDM, declare("line", "1", "id:int64", "amount:int32", "note:string")))
    sources = declare(SCHEMA, "1", "id:int64", "amount:unknown", "note:unknown", "rest:unknown")
    workbench.do(AddVersion(Side.EXTRACTION, sources))
    for source, target in (("id", "id"), ("amount", "amount"), ("note", "note")):
        key, element = cell(workbench, source, target)
        workbench.do(SetElements(key, ones=(element,)))
    return workbench


def cell(workbench: Workbench, source: str, target: str) -> tuple[BlockKey, Element]:
    key = find_block(workbench.document, f"{SCHEMA}@1:line@1")
    p = workbench.document.extraction.version(key[0]).at_path(source)
    q = workbench.document.cdm.version(key[1]).at_path(target)
    assert p is not None
    assert q is not None
    return key, Element(q.id, p.id)


def keep(workbench: Workbench, folder: Path, *rows: dict[str, object]) -> None:
    records = [{"topic": SCHEMA, "value": {"op": "c", "after": row, "source": {"table": "lines"}}} for row in rows]
    path = folder / "messages.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    keep_samples(workbench, str(path))


def refused(workbench: Workbench) -> RefusedCells:
    index = RefusedValueIndex(ProjectSamples(workbench))
    return index.cells(workbench.document, workbench.document)


ROWS: tuple[dict[str, object], ...] = (
    {"id": 1, "amount": 5, "note": "a", "rest": 1},
    {"id": 2, "amount": "5 CHF", "note": "b", "rest": 1},
    {"id": 3, "amount": {"value": 5}, "note": "c", "rest": 1},
    {"id": 4, "amount": "6 CHF", "note": "d", "rest": 1},
    {"id": 5, "amount": None, "note": "e", "rest": 1},
)


def test_values_of_an_unknown_type_that_a_column_refuses_are_counted_and_named(
    typed: Workbench, tmp_path: Path
) -> None:
    keep(typed, tmp_path, *ROWS)
    key, element = cell(typed, "amount", "amount")
    source = typed.document.extraction.version(key[0]).attribute(element.p)
    target = typed.document.cdm.version(key[1]).attribute(element.q)
    assert source is not None
    assert target is not None
    assert type_verdict(source, target) is TypeVerdict.LOSSLESS, "the types alone say nothing"
    found = refused(typed)
    assert set(found) == {(key, element)}
    told = found[key, element]
    assert (told.refused, told.looked_at, told.kinds) == (3, 4, ("texts", "objects"))
    assert str(told).startswith("typed columns refuse 3 of 4 sampled values: texts and objects, not ")


def test_without_samples_or_without_refusals_nothing_is_found(typed: Workbench, tmp_path: Path) -> None:
    assert refused(typed) == {}
    keep(typed, tmp_path, *ROWS[:1])
    assert refused(typed) == {}


@pytest.mark.parametrize("side", Side)
def test_masked_values_are_not_looked_at(typed: Workbench, tmp_path: Path, side: Side) -> None:
    keep(typed, tmp_path, *ROWS)
    key, element = cell(typed, "amount", "amount")
    version, id_ = (key[0], element.p) if side is Side.EXTRACTION else (key[1], element.q)
    typed.do(MaskAttribute(side, version, id_))
    assert refused(typed) == {}


def test_a_masked_attribute_of_a_wide_schema_costs_one_look_at_it(typed: Workbench, tmp_path: Path) -> None:
    wide = declare(SCHEMA, "2", *(f"a{number}" for number in range(20_000)), "amount:unknown")
    typed.do(AddVersion(Side.EXTRACTION, wide))
    _, version, attribute = find_leaf(typed.document, f"{SCHEMA}.a0")
    typed.do(MaskAttribute(Side.EXTRACTION, version.id, attribute.id))
    keep(typed, tmp_path, {"a1": "x", "amount": "many"})
    (found,) = refused(typed).values()
    assert found.refused == 1


def test_an_edit_is_followed_and_what_did_not_change_is_not_looked_at_again(typed: Workbench, tmp_path: Path) -> None:
    keep(typed, tmp_path, *ROWS)
    index = RefusedValueIndex(ProjectSamples(typed))
    key, element = cell(typed, "amount", "amount")
    first = index.cells(typed.document, typed.document)
    again = index.cells(typed.document, typed.document)
    assert again[key, element] is first[key, element]
    typed.do(SetElements(key, zeros=(element,)))
    assert index.cells(typed.document, typed.document) == {}
    other = cell(typed, "rest", "amount")
    typed.do(SetElements(key, ones=(other[1],)))
    assert index.cells(typed.document, typed.document) == {}
    index.forget()
    assert index.cells(typed.document, typed.document) == {}


def test_a_sample_that_is_no_value_of_the_attribute_is_passed_over(typed: Workbench, tmp_path: Path) -> None:
    unsent: dict[str, object] = {"id": 6, "amount": "__debezium_unavailable_value", "note": "x" * 20_000, "rest": 1}
    keep(typed, tmp_path, unsent)
    assert refused(typed) == {}


def test_looking_ends_when_it_is_stopped(typed: Workbench, tmp_path: Path) -> None:
    keep(typed, tmp_path, *ROWS)
    index = RefusedValueIndex(ProjectSamples(typed))
    with pytest.raises(RunCancelled):
        index.cells(typed.document, typed.document, Watch(is_cancelled=lambda: True))
