"""Pages name nothing that is gone: modules and functions, options, commands."""

from __future__ import annotations

import argparse
import shlex
from functools import cache
from pathlib import Path

import pytest

from metl_gui.cli.main import build_parser
from tests.helpers import documents

OTHERS = {"--strict", "--json", "--quick", "--checked", "--debug"}
"""Options of the builder, of ``tests.benchmarks`` and of ``tests.fuzz``, besides those of commands."""


def name(document: Path) -> str:
    return str(document.relative_to(documents.ROOT))


@cache
def options() -> dict[str, frozenset[str]]:
    """Return the options of each command, those of its own commands among them."""
    return {command: frozenset(_options(parser)) for command, parser in _commands(build_parser()).items()}


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found[0].choices) if found else {}


def _options(parser: argparse.ArgumentParser) -> set[str]:
    own = {option for action in parser._actions for option in action.option_strings}
    return own.union(*(_options(inside) for inside in _commands(parser).values()))


@pytest.mark.parametrize("page", documents.pages(), ids=name)
def test_every_module_class_and_function_that_a_page_names_is_there(page: Path) -> None:
    assert [code for code in sorted(documents.named_code(page)) if not documents.is_code(code)] == []


@pytest.mark.parametrize("page", documents.pages(), ids=name)
def test_every_option_that_a_page_names_is_one_of_some_command(page: Path) -> None:
    known = OTHERS.union(*options().values())
    assert documents.named_options(page) - known == set()


@pytest.mark.parametrize("page", documents.pages(), ids=name)
def test_every_command_within_a_sentence_is_there_with_its_options(page: Path) -> None:
    for code in documents.inline_code(page):
        words = shlex.split(code) if code.startswith("metl ") else []
        if words[1:] and words[1][0].islower():
            given = {word.partition("=")[0] for word in words[2:] if word.startswith("--")}
            assert given <= options()[words[1]], code


def test_a_name_that_is_gone_would_be_found() -> None:
    assert documents.is_code("metl_gui.core.changes.draft.perform")
    assert documents.is_code("metl_gui.ui.matrix.view.MatrixView.mousePressEvent")
    assert documents.is_code("metl_gui.engine.lanes")
    assert not documents.is_code("metl_gui.core.changes.draft.nothing_like_it")
    assert not documents.is_code("metl_gui.core.no_such_module")
    assert not documents.is_code("metl_gui.ui.matrix.view.MatrixView.perform")
