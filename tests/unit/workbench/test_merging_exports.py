"""Merging an export, which says less than a project, into the project that it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import ConfirmBlock, Postpone, RetireBlock
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.trees.nodes import Side
from metl_gui.store.creation import copy_file
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.comparison.merge import merge_files
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.formats import find_export
from metl_gui.workbench.session import Workbench
from tests.helpers.world import declare


def setting(workbench: Workbench, block: str, status: Status, **pairs: str) -> SetElements:
    """Make an edit that maps targets of a block from sources, with a comment."""
    key = find_block(workbench.document, block)
    columns, rows = workbench.document.extraction.version(key[0]), workbench.document.cdm.version(key[1])
    ends = ((rows.at_path(to), columns.at_path(source)) for to, source in pairs.items())
    ones = tuple(Element(q.id, p.id) for q, p in ends if q is not None and p is not None)
    return SetElements(key, ones=ones, status=status, comment=f"agreed on {block}")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A project with a block that is confirmed, one that waits, one that is retired and one that is unconfirmed."""
    path = tmp_path / "base.metl"
    with Workbench.create(path, "ben") as workbench:
        for name in ("s", "old", "new"):
            workbench.do(AddVersion(Side.EXTRACTION, declare(name, ["a", "b"], "1")))
        workbench.do(AddVersion(Side.CDM, declare("be", ["x", "y", "z"], "1")))
        workbench.do(setting(workbench, "s@1:be@1", Status.CONFIRMED, x="a", y="b"))
        workbench.do(setting(workbench, "old@1:be@1", Status.CONFIRMED, x="a"))
        workbench.do(setting(workbench, "new@1:be@1", Status.UNCONFIRMED, x="a"))
        workbench.do(RetireBlock(find_block(workbench.document, "old@1:be@1")))
        workbench.do(AddVersion(Side.EXTRACTION, declare("s", ["b", "n"], "2")))
        workbench.do(Postpone(find_block(workbench.document, "s@2:be@1"), "ask Ann"))
    return path


def blocks(path: Path) -> dict[BlockKey, Block]:
    """All blocks of a project with all that is known of them, by their keys."""
    with Workbench.open(path, for_editing=False) as workbench:
        return {block.key: block for block in workbench.document.matrix.blocks()}


def exported(project: Path, format_: str) -> Path:
    """Export a project."""
    target = project.with_suffix(".export")
    with Workbench.open(project, for_editing=False) as workbench:
        export(workbench.document, find_export(format_), target)
    return target


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_an_unchanged_export_takes_nothing_away_that_it_cannot_say(base: Path, format_: str) -> None:
    ours = base.with_name("ours.metl")
    copy_file(base, ours)
    before = blocks(ours)
    with Workbench.open(ours, for_editing=False) as workbench:
        state = workbench.document.state
    result = merge_files(base, ours, exported(base, format_))
    assert result.difference.is_empty
    assert (result.conflicts, result.document.state) == ((), state)
    assert blocks(ours) == before


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_what_an_export_changed_comes_beside_what_it_cannot_say(base: Path, format_: str) -> None:
    ours, theirs = base.with_name("ours.metl"), base.with_name("theirs.metl")
    for copy in (ours, theirs):
        copy_file(base, copy)
    before = blocks(ours)
    with Workbench.open(theirs) as workbench:
        key = find_block(workbench.document, "s@1:be@1")
        workbench.do(SetElements(key, zeros=before[key].elements[:1]))
    result = merge_files(base, ours, exported(theirs, format_))
    after = blocks(ours)
    assert result.conflicts == ()
    assert after[key].elements == before[key].elements[1:]
    assert after[key].comment == "agreed on s@1:be@1"
    assert {each: block for each, block in after.items() if each != key} == {
        each: block for each, block in before.items() if each != key
    }


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_what_an_export_decided_of_blocks_that_wait_is_taken(base: Path, format_: str) -> None:
    ours, theirs = base.with_name("ours.metl"), base.with_name("theirs.metl")
    for copy in (ours, theirs):
        copy_file(base, copy)
    with Workbench.open(theirs) as workbench:
        new, waiting = (find_block(workbench.document, name) for name in ("new@1:be@1", "s@2:be@1"))
        workbench.do(ConfirmBlock(new))
        workbench.do(ConfirmBlock(waiting))
    merged = merge_files(base, ours, exported(theirs, format_))
    assert merged.conflicts == ()
    after, wanted = blocks(ours), blocks(theirs)
    for key in (new, waiting):
        assert (after[key].status, after[key].elements) == (Status.CONFIRMED, wanted[key].elements)


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_an_element_that_an_export_drops_of_a_block_that_waits_is_dropped(base: Path, format_: str) -> None:
    with Workbench.open(base) as workbench:
        key = find_block(workbench.document, "s@2:be@1")
        column, row = (
            workbench.document.tree(side).version(id_).at_path(path)
            for side, id_, path in zip(Side, key, ("n", "z"), strict=True)
        )
        assert column is not None
        assert row is not None
        more = Element(row.id, column.id)
        workbench.do(SetElements(key, ones=(more,), status=Status.UNCONFIRMED))
    ours, theirs = base.with_name("ours.metl"), base.with_name("theirs.metl")
    for copy in (ours, theirs):
        copy_file(base, copy)
    with Workbench.open(theirs) as workbench:
        workbench.do(SetElements(key, zeros=(more,)))
        workbench.do(ConfirmBlock(key))
    merged = merge_files(base, ours, exported(theirs, format_))
    assert merged.conflicts == ()
    assert more not in blocks(ours)[key].elements
    assert blocks(ours)[key].status is Status.CONFIRMED
