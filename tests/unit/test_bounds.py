"""Nothing that this program unpacks can grow without bound: every place that unpacks is known here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import metl_gui

PACKAGE = Path(metl_gui.__file__).parent
BOUNDS = {"max_length", "decompressed_size"}
STREAMS = {"GzipFile", "BZ2File", "LZMAFile", "CompressedInputStream", "ZipFile", "TarFile", "load_workbook"}
OPENERS = {"gzip", "bz2", "lzma", "tarfile"}
KNOWN = {
    "formats/compression.py": "streams, read in pieces of fixed size by all who read them",
    "formats/avro_container.py": "a block, read in pieces up to the largest that is read",
    "registry/tables/workbook.py": "all parts are unpacked piece by piece and counted before anything else reads them",
    "stack/jars.py": "an archive whose checksum was compared",
    "stack/connect.py": "writes",
    "engine/spark/archive.py": "writes",
    "engine/spark/archive_entrance.py": "what this program packed for its executors",
}
"""Where packed streams and archives are opened, and what bounds them."""


def calls(path: Path) -> Iterator[tuple[ast.Call, str, str]]:
    """Yield every call of a module with the name of what is called, and of what that belongs to."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            yield node, node.func.attr, owner.id if isinstance(owner, ast.Name) else ""
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node, node.func.id, ""


def modules_naming(*words: str) -> Iterator[Path]:
    """Yield the modules in whose text one of some names stands, as it does wherever one is called or imported."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if any(word in text for word in words):
            yield path


def is_unbounded(call: ast.Call, name: str, owner: str) -> bool:
    """Whether a call unpacks all that it is given, however large that becomes."""
    if name != "decompress":
        return False
    is_bounded = len(call.args) > 1 or any(keyword.arg in BOUNDS for keyword in call.keywords)
    return owner in {"zlib", "gzip", "bz2", "lzma"} or not is_bounded


def opens_stream(name: str, owner: str) -> bool:
    """Whether a call opens something packed as a stream or an archive."""
    return name in STREAMS or (name == "open" and owner in OPENERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zlib.decompress(pack)", True),
        ("gzip.decompress(pack)", True),
        ("zlib.decompress(pack, -15)", True),
        ("zlib.decompressobj().decompress(pack)", True),
        ("opener.decompress(pack, most)", False),
        ("opener.decompress(pack, max_length=most)", False),
        ("pa.decompress(pack, decompressed_size=size)", False),
        ("pa.decompress(pack)", True),
    ],
)
def test_an_unbounded_call_is_told_from_a_bounded_one(text: str, expected: bool, tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(text)
    assert any(is_unbounded(*call) for call in calls(module)) is expected


def test_no_call_unpacks_without_a_bound() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{call[0].lineno}"
        for path in modules_naming("decompress")
        for call in calls(path)
        if is_unbounded(*call)
    ]
    assert found == []


def test_packed_streams_are_opened_only_where_their_bounds_are_known() -> None:
    found = {
        str(path.relative_to(PACKAGE))
        for path in modules_naming(*STREAMS, *OPENERS)
        for _, name, owner in calls(path)
        if opens_stream(name, owner)
    }
    assert found == set(KNOWN)


def test_no_module_takes_a_function_that_unpacks_under_another_name() -> None:
    found = [
        path.name
        for path in modules_naming("decompress")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and any(alias.name.startswith("decompress") for alias in node.names)
    ]
    assert found == []
