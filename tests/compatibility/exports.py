"""The published matrix of a kept project in every format, and how two of them are compared."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import openpyxl
import pyarrow.parquet as pq

from metl_gui import __version__
from tests.compatibility.installed import Installed

FORMATS: dict[str, tuple[str, ...]] = {
    "mapping.json": ("json",),
    "mapping.dusb": ("dusb",),
    "mapping.csv": ("csv",),
    "mapping.parquet": ("parquet",),
    "mapping.xlsx": ("xlsx",),
    "mapping.html": ("html",),
    "job": ("spark",),
    "rows.sql": ("sql",),
    "messages.sql": ("sql", "--source", "debezium", "--dialect", "spark"),
    "dbt": ("dbt",),
    "connect": ("kafka-connect", "--versions", "newest", "--topic", "metl.{entity}"),
    "mapping.sssom.tsv": ("sssom",),
    "mapping.openlineage.jsonl": ("openlineage",),
}
"""By the name of a file or folder: the format and its options."""

CODE = ("job/job.py", "job/metl-kernel.zip", "job/requirements.txt")
"""Parts of exports that are the program itself; they are not kept."""

_PUBLICATION = re.compile(rb'\A(\{\n) "publication": \d+,\n')
"""What stands before the plan of a job since 0.2."""


def export(installed: Installed, name: str, folder: Path) -> None:
    """Export the project as one of ``FORMATS``."""
    format_, *options = FORMATS[name]
    installed.metl("export", installed.project, "--format", format_, "-o", folder / name, *options)


def files_of(folder: Path, name: str) -> list[str]:
    """Name the files of an export, those that are code left out."""
    place = folder / name
    found = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    return [path for path in (path.relative_to(folder).as_posix() for path in found) if path not in CODE]


def content_of(path: Path, version: str) -> object:
    """Return what an exported file says: of text every byte, of tables every cell.

    Args:
        path: the file.
        version: of the program; it and today's count as the same.
    """
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        return [(field.name, str(field.type)) for field in table.schema], table.to_pylist()
    if path.suffix == ".xlsx":
        return list(_cells(path))
    said = path.read_bytes() if path.name != "plan.json" else _PUBLICATION.sub(rb"\1", path.read_bytes())
    return said.replace(version.encode(), b"VERSION").replace(__version__.encode(), b"VERSION")


def _cells(path: Path) -> Iterator[tuple[str, Sequence[Sequence[object]]]]:
    book = openpyxl.load_workbook(path)
    for sheet in book.worksheets:
        yield sheet.title, [list(row) for row in sheet.iter_rows(values_only=True)]
    with zipfile.ZipFile(path) as packed:
        yield "parts", [sorted(packed.namelist())]
