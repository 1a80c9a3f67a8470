"""What the project's documents say: their commands and the files they name."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s#]+)\)")
_FILE = re.compile(r"(?<![\w./<-])((?:metl_gui|resources|sample_projects|tests|\.ci)/[\w./-]*\w)")
_PROGRAM = re.compile(r"(?:^|&& |\{ |; |\.venv/bin/)metl ([^;&\n]+)", re.MULTILINE)


def documents() -> list[Path]:
    """Return every document that is kept with the project."""
    skipped = {".venv", ".git", "build", "dist", "artifacts", "node_modules"}
    return sorted(path for path in ROOT.rglob("*.md") if not skipped & set(path.relative_to(ROOT).parts))


def code_blocks(document: Path) -> list[str]:
    """Return what stands in fenced blocks."""
    return _BLOCK.findall(document.read_text(encoding="utf-8"))


def metl_commands(document: Path) -> Iterator[list[str]]:
    """Yield the arguments of every call of ``metl`` in the fenced blocks."""
    for block in code_blocks(document):
        for call in _PROGRAM.findall(block.replace("\\\n", " ")):
            yield shlex.split(call)


def section_commands(document: Path, title: str) -> Iterator[list[str]]:
    """Yield the words of every line in the fenced blocks of one section, in their order."""
    text = document.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    for block in _BLOCK.findall(text):
        yield from map(shlex.split, block.replace("\\\n", " ").splitlines())


def marked_command(document: Path, mark: str) -> str:
    """Return the one line in the block below ``<!-- mark -->``."""
    text = document.read_text(encoding="utf-8").partition(f"<!-- {mark} -->\n")[2]
    (line,) = _BLOCK.findall(text)[0].splitlines()
    return str(line)


def named_files(document: Path) -> set[Path]:
    """Return the files of the project that a document names, in links or by their path from the top."""
    text = document.read_text(encoding="utf-8")
    links = {document.parent / target for target in _LINK.findall(text) if "://" not in target}
    return links | {ROOT / name for name in _FILE.findall(text)}
