"""No word of the command line in the window: hints of errors that name commands and options name its own ways."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import metl_gui
from metl_gui.core.edits.elements import SetElements
from metl_gui.errors import UserError
from metl_gui.ui.shell.window import Window
from metl_gui.ui.widgets import dialogs
from metl_gui.ui.widgets.window_words import WAYS, in_window
from metl_gui.workbench.exports.format_spec import Export
from metl_gui.workbench.exports.formats import EXPORTS
from tests.qt.history_hand import now

_COMMANDS = re.compile(r"(?<![\w./-])metl [a-z]|(?<![\w-])--[a-z]")
_ROOMS = ("core", "formats", "registry", "store", "engine", "warehouse", "workbench")


def texts() -> Iterator[str]:
    """Yield every text in the rooms below the window that names a command or an option."""
    for room in _ROOMS:
        for path in (Path(metl_gui.__file__).parent / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _COMMANDS.search(node.value):
                    yield node.value


def test_no_text_of_the_program_comes_through_with_a_command_in_it() -> None:
    every = list(texts())
    assert len(every) > 100
    assert [text for text in every if _COMMANDS.search(in_window(text))] == []


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
def test_a_format_is_described_without_commands(export: Export) -> None:
    words = (export.title, *export.limits, *(text for each in export.options for text in (each.title, *each.values)))
    assert [text for text in words if in_window(text) != text] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mend it.", "Mend it."),
        ("shop.metl is a copy of /home/metl was here.", "shop.metl is a copy of /home/metl was here."),
        ("See metl history for what was done.", "View > History > Show the history lists what was done."),
        (
            "Restore it, or replay everything with --again.\nNothing was sent. See metl check.",
            "Nothing was sent. View > To do lists them.",
        ),
        (
            "Say what the key of a mapped entity is first: metl entity PROJECT change ENTITY --key ATTRIBUTE.",
            "Schema > New version of an entity… says what the key of a mapped entity is.",
        ),
        ("State 3 is gone. See metl lane list PROJECT.", "State 3 is gone. Run > How far the lane is shows it."),
    ],
)
def test_what_names_no_command_stays_and_what_does_becomes_a_way_in_the_window(text: str, words: str) -> None:
    assert in_window(text).strip() == words


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (
            UserError("Nothing was loaded yet", "There is no file.", "Load it."),
            "Nothing was loaded yet. There is no file. Load it.",
        ),
        (UserError("Nothing is there."), "Nothing is there."),
        (UserError("Nothing is there", hint="Load it…"), "Nothing is there. Load it…"),
    ],
)
def test_an_error_in_one_line_is_sentences(error: UserError, words: str) -> None:
    assert dialogs.in_one_line(error) == words


def test_every_way_that_is_named_is_in_the_menus(window: Window) -> None:
    table = window.actions_table
    known = {f"{row.menu} > {row.text}" for row in table.rows.values()} | {"Run > Lane"}
    named = [way for _, way in WAYS if " > " in way]
    assert len(named) > 10
    assert [way for way in named if not any(entry in way for entry in known)] == []


def test_a_refused_undo_names_the_history_of_the_window(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    def execute(question: dialogs.QuestionDialog) -> int:
        said.append(f"{question.windowTitle()} {question.body}")
        return 0

    monkeypatch.setattr(dialogs.QuestionDialog, "exec", execute)
    block = next(b for b in window.project.value.matrix.blocks() if b.elements)
    assert window.project.do(SetElements(block.key, zeros=block.elements[:1]))
    done = now(window)
    window.project.undo()
    window.history.undo_of(done)
    (words,) = said
    assert "is taken back already" in words
    assert "View > History > Show the history" in words
    assert not _COMMANDS.search(words)
