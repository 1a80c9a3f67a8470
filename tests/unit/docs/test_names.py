"""Pages and docstrings name nothing that is gone: modules and functions, options, commands, errors."""

from __future__ import annotations

import argparse
import ast
import builtins
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from metl_gui.cli.main import build_parser
from tests.helpers import documents

OTHERS = {"--strict", "--json", "--quick", "--checked", "--debug"}
"""Options of the builder, of ``tests.benchmarks`` and of ``tests.fuzz``, besides those of commands."""

_ERROR = re.compile(r"(?<![\w.])_?[A-Z]\w*Error\b")
_ERROR_CLASS = re.compile(r"^class (\w+Error)\b", re.MULTILINE)


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


def docstrings(text: str) -> Iterator[str]:
    """Yield the docstrings of a module."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            yield ast.get_docstring(node) or ""


def errors_named(text: str) -> set[str]:
    """Return the errors of ours, or of Python, that docstrings of a module name; a dotted name is of somebody else."""
    return {error for docstring in docstrings(text) for error in _ERROR.findall(docstring)}


def test_every_error_that_a_docstring_names_is_there() -> None:
    texts = {path: path.read_text("utf-8") for path in (documents.ROOT / "metl_gui").rglob("*.py")}
    known = {*dir(builtins), *(found for text in texts.values() for found in _ERROR_CLASS.findall(text))}
    assert "ProjectLockedError" in known
    gone = {path: errors_named(text) - known for path, text in texts.items()}
    assert {str(path.relative_to(documents.ROOT)): names for path, names in gone.items() if names} == {}


def test_an_error_that_is_gone_would_be_found() -> None:
    text = (
        'def look() -> None:\n    """Look.\n\n    Raises:\n        GoneError: x.\n        ssl.SSLError: y.\n    """\n'
    )
    assert errors_named(text) == {"GoneError"}
