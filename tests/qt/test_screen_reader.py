"""The window for people who hear it: every control by name and role over the accessibility bus, and ten tasks by it.

The program runs as it does on anybody's desktop: on an X server, whose keyboard is struck, with the bridge to the
accessibility bus that Qt brings for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from metl_gui.core.matrix.document import Document
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.demo.sample import SampleFolder
from metl_gui.workbench.publishing.publication import live_state
from metl_gui.workbench.session import Workbench
from tests.qt.desktop import PACKAGES
from tests.qt.screen_reader_user import Control, ScreenReader, screen_reader
from tests.qt.test_ten_tasks import newest, pairs

LEAVES = (
    *("Go to…", "Bookmark this place…", "Comment…", "Rename an entity"),
    *("Retire the block…", "Say who decides…", "Many at once"),
)
"""Entries that lead to a line of the matrix, a panel, a row of a tree or the page Review, and open no dialog."""

ROOT = Path(__file__).parents[2]
LINES = "address.lines from address_lines, not mapped"
FEW = 30
LOST = "fx.payments.orders 5 → payment 2.0.0, smaller, 2 lost"


@pytest.fixture
def project(waiting_sample: SampleFolder) -> Path:
    """Return a copy of the sample with decisions to take."""
    return waiting_sample.project


@pytest.fixture
def reader(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScreenReader]:
    """Return somebody with a screen reader before the sample."""
    with screen_reader(tmp_path_factory.mktemp("bus"), project) as someone:
        someone.until(lambda: someone.shows("push button", "State "))
        yield someone


def kept(project: Path) -> Document:
    """Read the project from its file, as the next session will."""
    with Workbench.open(project, for_editing=False) as workbench:
        return workbench.document


def comments(project: Path) -> list[str]:
    """Read what was said from the file."""
    with Workbench.open(project, for_editing=False) as workbench:
        return [comment.text for comment in workbench.kept.comments.all()]


def go(reader: ScreenReader, words: str, says: str) -> None:
    """Type where to go, and wait until it is said that one is there."""
    reader.write_into_what_opens("Ctrl+G", "Go to", words)
    reader.key("Return")
    reader.until_said(says)


def test_what_the_desktop_needs_is_what_ci_installs_and_what_contributors_are_told() -> None:
    line = " ".join(dict.fromkeys(PACKAGES.values()))
    assert f"apt-get install -y --no-install-recommends {line} " in (ROOT / ".ci" / "run").read_text("utf-8")
    assert f"`apt-get install {line}`" in (ROOT / ".github" / "CONTRIBUTING.md").read_text("utf-8")


# every control


def controls(reader: ScreenReader, page: str) -> set[tuple[str, str]]:
    """Go to a page, and return the roles and names of what the keyboard can go to there."""
    reader.press("check box", page)
    reader.until(lambda: reader.find("check box", page).is_checked)
    assert reader.unnamed() == [], page
    return {(each.role, each.name) for each in reader.all() if each.is_focusable}


def opening(reader: ScreenReader, above: Control | None = None) -> Iterator[Control]:
    """Yield every entry of the menus that opens a dialog."""
    for entry in reader.entries(above):
        if entry.name.startswith(LEAVES):
            continue
        if above is None or (reader.entries(entry) and not entry.name.endswith("…")):
            yield from opening(reader, entry)
        elif entry.name.endswith("…") and entry.is_enabled:
            yield entry


def opens_dialog(reader: ScreenReader, entry: Control) -> bool:
    """Choose an entry, and leave the dialog that it opens; another one says why it opens none."""
    before, heard = len(reader.windows()), len(reader.listen())
    reader.do(entry)
    reader.until(
        lambda: len(reader.windows()) > before or len(reader.listen()) > heard,
        lambda: f"nothing opens, and nothing is said: {entry.name}",
    )
    assert reader.unnamed(reader.windows()[0]) == [], entry.name
    opens = len(reader.windows()) > before
    if opens:
        reader.key("Esc")
        reader.until(lambda: len(reader.windows()) == before)
    return opens


def test_every_control_of_every_page_and_dialog_is_said_by_name_and_role(reader: ScreenReader) -> None:
    assert ("list", "Waiting for a decision") in controls(reader, "Review")
    assert ("table", "Set aside by reason") in controls(reader, "Run")
    assert ("table", "Columns of the table") in controls(reader, "Warehouse")
    assert ("tree", "Extraction tree") in controls(reader, "Map")
    go(reader, "fx.customers.person@7.address_lines -> customer.address.lines", LINES)
    opened = [entry.name for entry in list(opening(reader)) if opens_dialog(reader, entry)]
    assert {"Keys…", "Publish this state…", "New entity…", "Project settings…"} <= set(opened)
    assert len(opened) > 20


# ten tasks, the first of them on the start page


def test_the_sample_is_opened_from_the_start_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    with screen_reader(tmp_path_factory.mktemp("bus")) as reader:
        assert reader.unnamed() == []
        reader.press("push button", "Open the sample project")
        reader.until(lambda: any(window.name.startswith("fx.metl") for window in reader.windows()))
        reader.until(lambda: "accounts" in reader.rows("Extraction tree"))


def a_field_is_found_by_a_part_of_its_name(reader: ScreenReader, project: Path) -> None:
    """Search everywhere, and take what is read."""
    state = kept(project).state
    reader.write("Search everywhere", "reason_c")
    reader.until_said("reason_code, fx.payments.refunds 5")
    reader.key("Return")
    reader.until(lambda: reader.current("Extraction tree") == "reason_code")
    assert reader.shows("label", "fx.payments.refunds 5 reason_code")
    assert kept(project).state == state


def a_cell_of_the_matrix_is_mapped_by_what_is_announced(reader: ScreenReader, project: Path) -> None:
    """Go to a cell, hear what it is, set it, hear that it is set, and go on."""
    go(reader, "fx.customers.person@7.address_lines -> customer.address.lines", LINES)
    reader.key("Space")
    reader.until_said("address.lines from address_lines, mapped")
    assert pairs(kept(project), "fx.customers.person", "customer")["address.lines"] == "address_lines"
    reader.key("Right")
    reader.until_said("address.lines from adjustment_id, not mapped")


def what_was_mapped_is_undone_by_its_button(reader: ScreenReader, project: Path) -> None:
    """Undo by the button that names what it undoes."""
    before = kept(project).matrix.ones
    reader.press("push button", "Undo map address_lines to address.lines")
    reader.until(lambda: reader.shows("push button", "Nothing to undo"))
    assert kept(project).matrix.ones == before - 1


def the_table_twin_says_what_feeds_an_attribute(reader: ScreenReader, project: Path) -> None:
    """Read the mapping as a table."""
    reader.menu("View", "Mapping list")
    reader.until(lambda: bool(reader.names("text")) and reader.shows("text", "Filter the mapping list"))
    reader.write("Filter the mapping list", "payer_id orders")
    reader.until(lambda: 0 < reader.row_count("Mapping list") < FEW)
    cells = reader.rows("Mapping list")
    assert pairs(kept(project), "fx.payments.orders", "payment", "4")["payer_id"] == "customer_id"
    assert "amount" not in cells
    assert cells[cells.index("customer_id") - 2] == "fx.payments.orders"


def a_suggestion_is_accepted(reader: ScreenReader, project: Path) -> None:
    """Choose a suggestion by arrows, and accept it."""
    go(reader, "fx.payments.refunds@5.amount -> payment.amount", "amount from amount")
    reader.menu("Mapping", "Suggestions")
    reader.choose("Suggestions", "currency")
    reader.press("push button", "Accept")
    reader.until(lambda: pairs(kept(project), "fx.payments.refunds", "payment").get("currency") == "currency")


def a_lost_element_is_decided_on(reader: ScreenReader, project: Path) -> None:
    """Answer the first card of a decision."""
    reader.press("check box", "Review")
    reader.choose("Waiting for a decision", LOST)
    reader.press("push button", "It was renamed")
    reader.until(lambda: pairs(kept(project), "fx.payments.orders", "payment").get("payer_id") == "customer_ref")
    assert reader.shows("list item", "fx.payments.orders 5 → payment 2.0.0, smaller, 1 lost")


def an_attribute_is_commented_on(reader: ScreenReader, project: Path) -> None:
    """Write a comment."""
    go(reader, "fx.customers.person@7.notes -> customer.notes", "notes from notes")
    reader.menu("Schema", "Comment…")
    reader.write("New comment", "ask the bank")
    reader.press("push button", "Add comment")
    reader.until(lambda: reader.shows("push button", "Remove the comment of Ada"))
    assert "ask the bank" in comments(project)


def a_state_is_published(reader: ScreenReader, project: Path) -> None:
    """Publish, and hear that it is live."""
    reader.menu("Run", "Publish this state")
    reader.press("push button", "Publish it")
    reader.until(lambda: any("is live now" in words for words in reader.listen()))
    with Workbench.open(project, for_editing=False) as workbench:
        live = live_state(workbench)
        assert live is not None
        assert live.state == workbench.document.state


def a_new_entity_is_made(reader: ScreenReader, project: Path) -> None:
    """Make an entity with one attribute."""
    reader.menu("Schema", "New entity…")
    reader.write("Name of the new entity", "branch")
    reader.press("push button", "Add attribute")
    reader.until(lambda: reader.current("Attributes of the entity") is not None)
    assert reader.unnamed() == []
    reader.type("branch_id")
    reader.key("Return")
    reader.until(lambda: reader.find("push button", "Add the entity").is_enabled)
    reader.press("push button", "Add the entity")
    reader.until(lambda: "branch" in reader.rows("Canonical model tree"))
    assert [a.path for a in newest(kept(project), Side.CDM, "branch").attributes] == ["branch_id"]


TASKS = (
    a_field_is_found_by_a_part_of_its_name,
    a_cell_of_the_matrix_is_mapped_by_what_is_announced,
    what_was_mapped_is_undone_by_its_button,
    a_suggestion_is_accepted,
    the_table_twin_says_what_feeds_an_attribute,
    a_lost_element_is_decided_on,
    an_attribute_is_commented_on,
    a_state_is_published,
    a_new_entity_is_made,
)


def test_the_other_nine_tasks_are_done_in_one_sitting(reader: ScreenReader, project: Path) -> None:
    for task in TASKS:
        reader.key("Ctrl+1")
        reader.until(lambda: reader.shows("tree", "Extraction tree"))
        task(reader, project)
