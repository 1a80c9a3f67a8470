"""What holds of every format, those that come later too."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.errors import ProjectError, RunCancelled, UserError
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from tests.unit.workbench.exports.odd_document import odd_document

WHOLE = Choices(include_unconfirmed=True)
every_format = pytest.mark.parametrize("name", EXPORTS)


def content(path: Path) -> dict[str, str]:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return {each.relative_to(path.parent).as_posix(): sha256(each.read_bytes()).hexdigest() for each in files}


@every_format
def test_names_that_broke_programs_are_written_the_same_each_time_or_refused_in_words(
    name: str, tmp_path: Path
) -> None:
    place = tmp_path / "out"
    found: list[dict[str, str] | tuple[str, str, bool, list[Path]]] = []
    for _ in range(2):
        try:
            export(odd_document(), EXPORTS[name], place, WHOLE)
        except UserError as refused:
            found.append((refused.title, refused.text, bool(refused.hint), [*tmp_path.iterdir()]))
        else:
            found.append(content(place))
    assert found[0] == found[1]
    assert isinstance(found[0], dict) or found[0][2:] == (True, [])


@every_format
def test_a_project_without_anything_is_written_too(name: str, tmp_path: Path) -> None:
    done = export(Document(), EXPORTS[name], tmp_path / "out", WHOLE)
    assert (done.blocks, done.held, done.left_out) == (0, 0, 0)
    assert (tmp_path / "out").exists()


@every_format
def test_an_export_that_is_stopped_leaves_what_was_there_and_nothing_else(name: str, tmp_path: Path) -> None:
    place = tmp_path / "out"
    export(Document(), EXPORTS[name], place, WHOLE)
    before = content(place)
    told: list[None] = []

    def is_stopped() -> bool:
        told.append(None)
        return len(told) > 1

    try:
        export(Document(), EXPORTS[name], place, WHOLE, Watch(is_cancelled=is_stopped))
    except RunCancelled:
        assert content(place) == before
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


@every_format
def test_a_place_that_cannot_be_written_is_told_by_its_name(name: str, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="cannot be written"):
        export(Document(), EXPORTS[name], tmp_path / "no" / "such" / "folder", WHOLE)


@every_format
def test_a_format_says_in_sentences_what_it_is_and_what_it_cannot_say(name: str) -> None:
    format_ = EXPORTS[name]
    assert 20 < len(format_.title) < 80
    assert not format_.title.endswith(".")
    assert format_.limits
    assert all(sentence.endswith(".") for sentence in format_.limits)
