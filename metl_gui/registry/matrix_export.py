"""The exports ``json`` and ``dusb`` read back into a document, with no project at hand.

Every field is checked: what does not fit is refused with its place, so that a document that comes out keeps the rules
of the matrix whatever was written in the file. Ids are given anew, in the order of the file.
Source: contract.md §4, dmm.md §3, A4.
"""

from __future__ import annotations

import re
from pathlib import Path

from metl_gui.core.matrix.document import Document
from metl_gui.core.matrix.matrix import Dpm
from metl_gui.core.matrix.matrix_export import DUSB_FORMAT, JSON_FORMAT, MatrixExport
from metl_gui.errors import SchemaError
from metl_gui.registry.checked_values import Checked
from metl_gui.registry.documents import decode, parse_json, read_bytes
from metl_gui.registry.export_blocks import BlockReader
from metl_gui.registry.export_trees import read_trees

MAX_BYTES = 512 * 2**20
_MARK = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{64}")


def read_export(path: Path) -> MatrixExport:
    """Read an export.

    Raises:
        SchemaError: it cannot be read; with its name, and the line or the place where it stops being an export.
    """
    raw = read_bytes(path, MAX_BYTES)
    try:
        return parse_export(raw)
    except SchemaError as error:
        raise SchemaError(f"{path.name}: {error.title}", error.text, error.hint) from error


def parse_export(raw: bytes) -> MatrixExport:
    """Read an export from its bytes.

    Raises:
        SchemaError: it cannot be read.
    """
    text = decode(raw)
    _refuse_marks(text)
    root = Checked(parse_json(text))
    format_ = root.member("format")
    if format_.any_text() not in {JSON_FORMAT, DUSB_FORMAT}:
        raise format_.refused(f"{format_.value!r} is no export of a matrix", "Name a file of metl export -o.")
    version = root.member("version")
    if version.whole() != 1:
        raise version.refused(f"this program reads version 1, not {version.value}", "Take a newer program.")
    hash_ = root.member("hash")
    if _HASH.fullmatch(hash_.any_text()) is None:
        raise hash_.refused("a hash has 64 hexadecimal digits")
    trees = read_trees(root.member("trees"), root.member("settings"))
    reader = BlockReader(trees)
    blocks = reader.dense(root) if format_.value == JSON_FORMAT else reader.compact(root)
    state = root.member("state").whole()
    document = Document(state, trees.extraction, trees.cdm, Dpm.of(blocks), trees.extraction_ids, trees.cdm_ids)
    unconfirmed = root.member("settings").member("include_unconfirmed").flag()
    return MatrixExport(document, format_.any_text(), state, hash_.any_text(), unconfirmed)


def _refuse_marks(text: str) -> None:
    """Say of a file that Git merged as text, line by line, what is the matter with it."""
    found = _MARK.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        raise SchemaError(
            "The export holds marks of a merge that is not finished.",
            f"The first one is at line {line}.",
            "Take one side of it (git checkout --ours FILE) and merge with metl merge BASE OURS THEIRS.",
        )
