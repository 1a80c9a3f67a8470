"""What code and documents cite is a page of the documentation, and a heading on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.helpers import documents

SPECIFICATIONS = ("dmm", "contract", "warehouse", "ux", "look", "house", "words", "cdc-formats", "components")
"""Names of documents that are no part of the project, so that nobody who reads it can follow them."""

_GAP = r"\s+(?:# )?"
"""Between two words of a citation: a line may end there, in a comment too."""

_CITATION = re.compile(rf'(?<![\w./-])(docs/[\w./-]+\.md)(?:,{_GAP}"([^"]+)")?')
_OUTSIDE = re.compile(rf"(?<![\w./-])(?:{'|'.join(SPECIFICATIONS)})(?:\.md\b|{_GAP}§)")
_HEADING = re.compile(r"^#+ (.+?)\s*$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def files() -> list[Path]:
    """Return the files that cite: code, its cases, the settings of its tools, documents."""
    found = [documents.ROOT / name for name in ("README.md", "CHANGELOG.md", "pyproject.toml")]
    for folder in ("metl_gui", "tests", "docs", ".github"):
        for suffix in ("py", "md", "yml"):
            found += (documents.ROOT / folder).rglob(f"*.{suffix}")
    return sorted(found)


def citations(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield the pages that a text cites, each with its heading where one is named."""
    for page, heading in _CITATION.findall(text):
        yield page, " ".join(re.sub(_GAP, " ", heading).split()) or None


def wrong(text: str) -> list[tuple[str, str | None]]:
    """Return the citations of a text that lead nowhere."""
    return [
        (page, heading)
        for page, heading in citations(text)
        if not (documents.ROOT / page).is_file() or (heading and heading not in headings(page))
    ]


def outside(text: str) -> list[str]:
    """Return what of documents outside the project a text names."""
    return _OUTSIDE.findall(text)


@cache
def headings(page: str) -> frozenset[str]:
    """Return the headings of a page as they are written."""
    return frozenset(_HEADING.findall(_FENCED.sub("", (documents.ROOT / page).read_text("utf-8"))))


def test_every_citation_leads_to_a_page_and_to_a_heading_on_it() -> None:
    found = {path: wrong(path.read_text("utf-8")) for path in files()}
    assert {str(path.relative_to(documents.ROOT)): cited for path, cited in found.items() if cited} == {}


def test_no_file_names_a_document_outside_the_project() -> None:
    found = {path: outside(path.read_text("utf-8")) for path in files()}
    assert {str(path.relative_to(documents.ROOT)): named for path, named in found.items() if named} == {}


def test_citations_are_found_and_followed_over_the_end_of_a_line() -> None:
    folder = "docs" + "/architecture"
    text = f'Source: {folder}/model.md,\n    # "Worked\n    # examples"; {folder}/index.md. See `{folder}/flows.md`.'
    cited = [(f"{folder}/model.md", "Worked examples"), (f"{folder}/index.md", None), (f"{folder}/flows.md", None)]
    assert list(citations(text)) == cited
    assert wrong(text) == []


def test_a_citation_that_leads_nowhere_is_found() -> None:
    page = "docs" + "/architecture/model.md"
    assert wrong(f'{page}, "No such heading". {page}, "Algorithms".') == [(page, "No such heading")]
    gone = "docs" + "/architecture/gone.md"
    assert wrong(f'See {gone}; {gone}, "Algorithms".') == [(gone, None), (gone, "Algorithms")]


def test_a_name_of_a_document_outside_is_found_and_a_page_is_none() -> None:
    for name in SPECIFICATIONS:
        assert outside(f"Source: {name}{'.md'} §4.") == [f"{name}{'.md'}"]
        assert outside(f"each the wrapper of {name} §5") == [f"{name} §"]
        assert outside(f"docs/guide/{name}{'.md'}, my-{name}{'.md'}, the {name} of it") == []
