"""Links: their text, the project file that they lead into, and what stands at their places."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.review import RenameLost
from metl_gui.core.edits.versions import AddVersion, RemoveVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import LinkError, ProjectError
from metl_gui.workbench.addresses import find_block
from metl_gui.workbench.links.known_projects import find_project, projects_in, remember_project
from metl_gui.workbench.links.link import LONGEST, Link, LinkPlace, PlaceKind, is_link, read_link
from metl_gui.workbench.links.places import link_to, look_at_place
from metl_gui.workbench.session import Workbench

from .conftest import declare

_IDS = st.integers(1, 2**31 - 1)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
_PLACES = st.one_of(
    st.builds(lambda ids: LinkPlace(PlaceKind.SCHEMA, tuple(ids)), st.lists(_IDS, min_size=1, max_size=3)),
    st.builds(lambda a, b, c, d: LinkPlace(PlaceKind.CELL, (a, b, c, d)), _IDS, _IDS, _IDS, _IDS),
    st.builds(lambda a, b: LinkPlace(PlaceKind.REVIEW, (a, b)), _IDS, _IDS),
    st.just(LinkPlace(PlaceKind.STATE)),
    st.builds(lambda at: LinkPlace(PlaceKind.SET_ASIDE, run="run-1", reason="no_key", position=at), _TEXT),
)


@given(st.builds(Link, _TEXT, st.integers(0, 2**63 - 1), _PLACES, st.text(max_size=500)))
def test_a_link_is_read_as_it_was_written_and_has_no_letter_that_a_mail_breaks(link: Link) -> None:
    text = str(link)
    read = read_link(f"  {text}\n")
    assert (read.project, read.state, read.place) == (link.project, link.state, link.place)
    assert len(text) <= LONGEST
    assert text.isascii()
    assert text.isprintable()
    assert " " not in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "does not begin"),
        ("https://x/1/state", "does not begin"),
        ("metl://", "lacks"),
        ("metl://p/1", "lacks"),
        ("metl://p/-1/state", "no number of a state"),
        ("metl://p/1e3/state", "no number of a state"),
        ("metl://p/" + "9" * 19 + "/state", "no number of a state"),
        ("metl://p/1/run/../../etc", "names no such place"),
        ("metl://p/1/run/..%2F..%2Fetc", "names no such place"),
        ("metl://p/1/exec/rm", "no kind of place"),
        ("metl://p/1/cell/1/2/3", "names no such place"),
        ("metl://p/1/block/0/1", "names no such place"),
        ("metl://p/1/block/1/\u0661", "a letter that no link has"),
        ("metl://p/1/state/1", "names no such place"),
        ("metl://p/1/block/1/2 --yes", "a space"),
        ("metl://%ff/1/state", "no UTF-8"),
        ("metl://p/1/state#" + "a" * LONGEST, "letters"),
        ("metl://p/1/block/1/" + "9" * 19, "too large"),
        (f"metl://p/1/schema/1/{2**31}", "too large"),
    ],
)
def test_a_text_that_is_no_link_is_refused_with_what_is_wrong_and_what_to_do(text: str, words: str) -> None:
    with pytest.raises(LinkError, match=words) as refused:
        read_link(text)
    assert refused.value.hint
    assert len(str(refused.value)) < 400


def test_a_position_too_long_for_a_link_is_left_out_of_it() -> None:
    link = Link("p", 1, LinkPlace(PlaceKind.SET_ASIDE, run="r", reason="no_key", position="ä" * LONGEST), "names")
    assert read_link(str(link)).place == LinkPlace(PlaceKind.SET_ASIDE, run="r", reason="no_key")


def test_what_means_to_be_a_link_is_told_from_a_file() -> None:
    assert is_link(" METL://x")
    assert not is_link("metl.metl")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def cell_link(mapped: Workbench) -> Link:
    key = find_block(mapped.document, "fx.pay.orders@1:payment@1")
    element = mapped.document.matrix.block(*key).elements[0]  # type: ignore[union-attr]
    return link_to(
        mapped.project_id, mapped.document, LinkPlace(PlaceKind.CELL, (key[0], element.p, key[1], element.q))
    )


def test_a_link_leads_to_the_same_cell_whatever_was_renamed_or_removed_since(mapped: Workbench) -> None:
    link = cell_link(mapped)
    before = look_at_place(mapped, link)
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "number", "customer_ref", "amount")))
    key = find_block(mapped.document, "fx.pay.orders@2:payment@1")
    mapped.do(RenameLost(key, "id", "number"))
    p = mapped.document.extraction.version(key[0]).at_path("number")
    assert p is not None
    newer = link_to(
        mapped.project_id, mapped.document, LinkPlace(PlaceKind.CELL, (key[0], p.id, key[1], link.place.ids[3]))
    )
    assert newer.names == "fx.pay.orders@2.number=payment@1.payment_id"
    assert look_at_place(mapped, newer).events[-1] == before.events[-1]
    mapped.do(RemoveVersion(Side.EXTRACTION, link.place.ids[0]))
    assert look_at_place(mapped, link) == before
    with pytest.raises(LinkError, match="has no version 1 of any schema"):
        look_at_place(mapped, Link(link.project, mapped.document.state, link.place))


def test_a_cell_is_shown_as_it_was_in_the_state_of_the_link_with_who_set_it_and_when(mapped: Workbench) -> None:
    link = cell_link(mapped)
    v, p, w, q = link.place.ids
    mapped.do(SetElements((v, w), zeros=(Element(q, p),)))
    then, now = look_at_place(mapped, link), look_at_place(mapped, Link(link.project, link.state + 1, link.place))
    assert (then.is_mapped, now.is_mapped) == (True, False)
    assert [event.what for event in then.events] == ["set"]
    assert [event.what for event in now.events] == ["cleared", "set"]
    assert then.elements[0].origin is not None
    assert (then.who, then.elements[0].origin.who, then.elements[0].origin.state) == ("tess", "tess", link.state)
    assert now.elements == ()


@pytest.mark.parametrize(
    ("place", "title"),
    [
        (LinkPlace(PlaceKind.SCHEMA, (1,)), "fx.pay.orders"),
        (LinkPlace(PlaceKind.SCHEMA, (1, 1)), "fx.pay.orders@1"),
        (LinkPlace(PlaceKind.SCHEMA, (1, 1, 2)), "fx.pay.orders@1.customer_id"),
        (LinkPlace(PlaceKind.ENTITY, (2, 2, 5)), "refund@1.refund_id"),
        (LinkPlace(PlaceKind.BLOCK, (1, 2)), "fx.pay.orders@1:refund@1"),
        (LinkPlace(PlaceKind.REVIEW, (1, 2)), "fx.pay.orders@1:refund@1"),
        (LinkPlace(PlaceKind.STATE), "state 5"),
    ],
)
def test_each_kind_of_place_is_named_and_tells_something(mapped: Workbench, place: LinkPlace, title: str) -> None:
    shown = look_at_place(mapped, link_to(mapped.project_id, mapped.document, place))
    assert (shown.title, shown.kind) == (title, place.kind)
    assert shown.facts or shown.events
    assert read_link(shown.link).place == place


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (LinkPlace(PlaceKind.SCHEMA, (9,)), "no schema 9"),
        (LinkPlace(PlaceKind.SCHEMA, (1, 2)), "no version 2 of fx.pay.orders"),
        (LinkPlace(PlaceKind.ENTITY, (1, 1, 99)), "no attribute 99"),
        (LinkPlace(PlaceKind.BLOCK, (9, 1)), "no version 9"),
        (LinkPlace(PlaceKind.CELL, (1, 1, 1, 99)), "no attribute 99"),
        (LinkPlace(PlaceKind.RUN, run="gone"), "keeps no run gone"),
    ],
)
def test_a_place_that_is_not_there_is_refused_with_what_is_missing(
    mapped: Workbench, place: LinkPlace, words: str
) -> None:
    with pytest.raises(LinkError, match=words) as refused:
        look_at_place(mapped, Link(mapped.project_id, mapped.document.state, place))
    assert refused.value.hint


def test_a_state_that_is_not_there_and_another_project_are_refused(mapped: Workbench) -> None:
    with pytest.raises(LinkError, match=r"State 99 of the link is not in pay\.metl.*go from 0 to 5") as gone:
        look_at_place(mapped, Link(mapped.project_id, 99, LinkPlace(PlaceKind.STATE)))
    assert "in place of 99" in gone.value.hint
    with pytest.raises(LinkError, match=r"does not lead into pay\.metl"):
        look_at_place(mapped, Link("another", 1, LinkPlace(PlaceKind.STATE)))


def test_the_project_file_is_found_by_its_id_where_it_was_opened_and_where_it_was_moved_to(
    mapped: Workbench, tmp_path: Path
) -> None:
    project_id, path = mapped.project_id, mapped.path
    mapped.close()
    with pytest.raises(LinkError, match="not known on this computer") as unknown:
        find_project(project_id)
    assert project_id in unknown.value.text
    assert find_project(project_id, near=projects_in(path.parent)) == path
    remember_project(project_id, path)
    assert find_project(project_id) == path
    moved = Path(shutil.move(path, tmp_path / "elsewhere.metl"))
    with Workbench.create(path):
        assert find_project(project_id, near=[path, moved]) == moved
    with pytest.raises(LinkError, match=r"not lead into pay\.metl"):
        find_project(project_id, named=path)
    with pytest.raises(ProjectError):
        find_project(project_id, named=tmp_path / "nothing.metl")


def test_files_near_by_that_are_no_projects_are_passed_over(mapped: Workbench, tmp_path: Path) -> None:
    (tmp_path / "a.metl").write_bytes(b"SQLite format 3\0 and then nothing")
    (tmp_path / "b.metl").mkdir()
    assert find_project(mapped.project_id, near=projects_in(tmp_path)) == mapped.path
    assert not (tmp_path / "data").exists()
