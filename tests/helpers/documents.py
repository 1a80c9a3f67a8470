"""What the project's documents say: their commands, and the files, code and options that they name."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
_FILE = re.compile(
    r"(?<![\w./<-])((?:metl_gui|resources|sample_projects|tests|docs|\.ci)/[\w./-]*\w|\.github/[A-Z][\w.]*\w"
    r"|mkdocs\.yml|pyproject\.toml)"
)
_PROGRAM = re.compile(r"(?:^|&& |\{ |; |\.venv/bin/)metl ([^;&\n]+)", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_DOTTED = re.compile(r"metl_gui(?:\.\w+)+")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def documents() -> list[Path]:
    """Return every document that is kept with the project."""
    skipped = {".venv", ".git", "build", "dist", "artifacts", "node_modules"}
    return sorted(path for path in ROOT.rglob("*.md") if not skipped & set(path.relative_to(ROOT).parts))


def pages() -> list[Path]:
    """Return the pages of the documentation."""
    return sorted(PAGES.rglob("*.md"))


def code_blocks(document: Path, language: str | None = None) -> list[str]:
    """Return what stands in fenced blocks: in those of a language, empty for those without any, or in all."""
    found = _BLOCK.findall(document.read_text(encoding="utf-8"))
    return [block for fence, block in found if language is None or fence == language]


def metl_commands(document: Path) -> Iterator[list[str]]:
    """Yield the arguments of every call of ``metl`` in the fenced blocks."""
    for block in code_blocks(document):
        for call in _PROGRAM.findall(block.replace("\\\n", " ")):
            yield shlex.split(call)


def page_commands(page: Path, language: str = "") -> Iterator[list[str]]:
    """Yield the words of every line in a page's blocks, in their order: those that are run, or those of a language."""
    for block in code_blocks(page, language):
        yield from map(shlex.split, block.replace("\\\n", " ").splitlines())


def marked_command(document: Path, mark: str) -> str:
    """Return the one line in the block below ``<!-- mark -->``."""
    text = document.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")[2]
    (line,) = _BLOCK.findall(text)[0][1].splitlines()
    return str(line)


def inline_code(document: Path) -> list[str]:
    """Return what stands in backticks within sentences and tables."""
    text = _BLOCK.sub("", document.read_text(encoding="utf-8"))
    return [" ".join(code.split()) for code in _INLINE.findall(text)]


def named_options(document: Path) -> set[str]:
    """Return the options that are named within sentences and tables, without a command before them."""
    return {option for code in inline_code(document) if code.startswith("--") for option in _OPTION.findall(code)}


def named_files(document: Path) -> set[Path]:
    """Return the files of the project that a document names, in links or by their path from the top."""
    text = document.read_text(encoding="utf-8")
    links = {document.parent / target for target in _LINK.findall(text) if "://" not in target}
    return links | {ROOT / name for name in _FILE.findall(text)}


def named_code(document: Path) -> set[str]:
    """Return the dotted names of the program's modules, classes and functions that a document names."""
    return dotted_names(document.read_text(encoding="utf-8"))


def dotted_names(text: str) -> set[str]:
    """Return the dotted names of the program's modules, classes and functions in a text."""
    return set(_DOTTED.findall(text))


def is_code(name: str) -> bool:
    """Say whether a dotted name is a module of the program, or something that one defines; nothing is imported."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:count])
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.is_file():
            return count == len(parts) or ".".join(parts[count:]) in _defined(file)
    return False


@cache
def _defined(file: Path) -> frozenset[str]:
    return frozenset(_names_in(ast.parse(file.read_text(encoding="utf-8")).body))


def _names_in(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{inside}" for inside in _names_in(node.body))
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
