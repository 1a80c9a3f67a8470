"""What a project file holds deflated is unpacked up to a bound, in little memory."""

from __future__ import annotations

import os
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from metl_gui.errors import ProjectError
from metl_gui.store.project_file import ProjectFile
from metl_gui.store.rows import decompression
from metl_gui.store.rows.decompression import Unpacking
from metl_gui.store.rows.packed_changes import opener, packed_text
from tests.unit.store.editing import Editing
from tests.unit.store.limited import outcome

RAW = -15
BOMB_BYTES = 200 << 20
EDITS = (
    "INSERT INTO edits SELECT number, '', '', 0, 'window', number, NULL, 0, number, 1, 0, ?"
    " FROM (WITH RECURSIVE n (number) AS (SELECT 5 UNION ALL SELECT number + 1 FROM n WHERE number < 24)"
    " SELECT number FROM n)"
)


def deflated(text: bytes, times: int, bits: int) -> bytes:
    """Deflate a text that is repeated, without ever having it in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    return b"".join([*(packer.compress(text) for _ in range(times)), packer.flush()])


@pytest.fixture(scope="module")
def bombs() -> dict[int, bytes]:
    """Two hundred kilobytes that become two hundred megabytes, raw and with a header."""
    return {bits: deflated(b" " * (1 << 20), BOMB_BYTES >> 20, bits) for bits in (RAW, zlib.MAX_WBITS)}


def project_with(path: Path, statement: str, *values: object) -> Path:
    """Make a project and change it behind the program's back."""
    with ProjectFile.create(path) as project:
        Editing(project).small_world()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)
        connection.execute("UPDATE project SET state = (SELECT max(state) FROM edits)")
    return path


@pytest.mark.parametrize(
    ("statement", "bits", "call"),
    [
        (EDITS, RAW, "document(1)"),
        (EDITS, RAW, "change_between(0, 24)"),
        (EDITS, RAW, "change_of(project.group_of(9))"),
        (EDITS, RAW, "touching(LogFilter(schema=(Side.CDM, 1)))"),
        (EDITS, RAW, "compact(RetentionPolicy(0, 0))"),
        ("INSERT INTO pending_versions VALUES (1, 0, ?)", zlib.MAX_WBITS, "kept.pending_imports.versions(1)"),
        ("INSERT INTO wire_schemas VALUES ('7', 's', 'avro', '', ?, 0)", zlib.MAX_WBITS, "kept.writer_schemas.all()"),
        ("INSERT INTO included_samples VALUES (1, ?, '', 0)", zlib.MAX_WBITS, "kept.samples.included_text(1)"),
    ],
)
def test_bytes_that_grow_a_thousandfold_are_refused_by_name_before_they_fill_the_memory(
    path: Path, bombs: dict[int, bytes], statement: str, bits: int, call: str
) -> None:
    project_with(path, statement, bombs[bits])
    told = outcome(
        path,
        "from metl_gui.core.trees.nodes import Side\n"
        "from metl_gui.store.rows.packed_changes import LogFilter\n"
        "from metl_gui.store.edit_log import RetentionPolicy\n"
        "with ProjectFile.open(path, for_editing=True) as project:\n"
        f"    try:\n        project.{call}\n    except ProjectError as error:\n        print(error)\n",
    )
    assert "is damaged" in told
    assert "grows beyond all measure when it is unpacked" in told
    assert "Traceback" not in told


def test_a_part_that_is_small_may_repeat_itself_as_it_likes() -> None:
    text = b"the same words " * 1_000_000
    assert Unpacking("a part").unpacked(zlib.compress(text)) == text


def test_a_large_part_may_become_many_times_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "LEAST_BYTES", 0)
    text = b"".join(b'{"id":%d,"path":"attribute","type":"string"}' % number for number in range(50_000))
    packed = zlib.compress(text, 9)
    assert len(text) > 8 * len(packed)
    assert Unpacking("a part").unpacked(packed) == text


def test_a_change_that_repeats_itself_beyond_the_bound_is_written_such_that_it_is_read_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decompression, "LEAST_BYTES", 0)
    text = f'{{"comment":"{"why " * 100_000}"}}'
    assert opener()(packed_text(text)) == text.encode()
    assert len(packed_text(text)) < len(text) / 2


def test_many_parts_have_one_bound_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decompression, "LEAST_BYTES", 21_000)
    one = zlib.compress(bytes(20_000))
    together = Unpacking("a part")
    assert together.unpacked(one) + together.unpacked(zlib.compress(b"more")) == bytes(20_000) + b"more"
    with pytest.raises(ValueError, match="a part grows beyond all measure"):
        together.unpacked(one)


@pytest.mark.parametrize("spoil", ["cut", "junk"])
def test_a_part_that_is_cut_or_spoiled_is_said_to_be(spoil: str) -> None:
    packed = zlib.compress(Random(3).randbytes(1_000))
    with pytest.raises(ValueError, match=r"a part (is cut off|cannot be unpacked)"):
        Unpacking("a part").unpacked(packed[:-9] if spoil == "cut" else os.urandom(1) * 99)


@pytest.mark.parametrize("spoil", ["report", "events", "spec"])
def test_json_that_nests_without_end_is_called_damage(path: Path, spoil: str) -> None:
    with ProjectFile.create(path) as project:
        project.kept.runs.add({"run_id": "r"})
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE runs SET {spoil} = ?", ("[" * 200_000 + "]" * 200_000,))
    with ProjectFile.open(path, for_editing=False) as project, pytest.raises(ProjectError, match="is damaged"):
        project.kept.runs.events("r") if spoil == "events" else project.kept.runs.newest()
