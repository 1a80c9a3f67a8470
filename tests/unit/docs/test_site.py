"""The site is built strictly, and asks nothing of any network when it is read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.helpers import documents

_LOADED = re.compile(r"""(?:src|srcset)=["']?(?:https?:)?//|<link[^>]+href=["']?(?:https?:)?//[^>]*>""")
_FAULTS = {
    "page.md": ("[gone](gone.md)", "contains a link 'gone.md'"),
    "anchor.md": ("[gone](index.md#gone)", "does not contain an anchor '#gone'"),
    "picture.md": ("![gone](gone.png)", "contains a link 'gone.png'"),
    "outside.md": ("[gone](../../gone.py)", "contains a link '../../gone.py'"),
}


def build(configuration: Path, to: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as CI does."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(configuration), "-d", str(to)],
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(documents.ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_each_page_is_in_the_site_and_in_its_search(site: Path) -> None:
    pages = {str(page.relative_to(documents.PAGES).with_suffix(".html")) for page in documents.pages()}
    assert pages <= {str(path.relative_to(site)) for path in site.rglob("*.html")}
    index = json.loads((site / "search" / "search_index.json").read_bytes())
    assert pages <= {entry["location"].partition("#")[0] for entry in index["docs"]}


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert {path.name: _LOADED.findall(text) for path, text in pages.items() if _LOADED.search(text)} == {}
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\((?:https?:)?//", styles) == []
    assert "fonts.googleapis" not in "".join(pages.values()) + styles


def test_whatever_leads_nowhere_ends_the_build(tmp_path: Path) -> None:
    settings = yaml.safe_load((documents.ROOT / "mkdocs.yml").read_text("utf-8"))
    settings |= {"docs_dir": str(tmp_path / "docs"), "nav": [{"Home": "index.md"}, {"Gone": "gone-from-nav.md"}]}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(settings), "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n", "utf-8")
    for page, (text, _) in _FAULTS.items():
        (tmp_path / "docs" / page).write_text(f"# Page\n\n{text}\n", "utf-8")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode != 0
    assert [told for _, told in _FAULTS.values() if told not in done.stderr] == []
    assert "'gone-from-nav.md' is included in the 'nav' configuration, which is not found" in done.stderr
    assert 'not included in the "nav" configuration' in done.stderr
