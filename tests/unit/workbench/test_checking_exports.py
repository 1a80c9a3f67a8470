"""An export is checked without its project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import SchemaError
from metl_gui.workbench.exports.files import check_export, export, export_published
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.matrix import is_as_written
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import declare
from tests.unit.workbench.exports.odd_document import odd_document


def codes(path: Path, same_as: Path | None = None) -> list[str]:
    return [found.code for found in check_export(path, same_as).problems if found.severity is not Severity.NOTE]


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_any_changed_sign_of_an_export_is_found(format_: str, mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "a"
    export(mapped.document, EXPORTS[format_], path)
    assert codes(path) == []
    text = path.read_text(encoding="utf-8")
    for at in range(0, len(text.rstrip()), 37):
        sign = "7" if text[at] != "7" else "8"
        path.write_text(text[:at] + sign + text[at + 1 :], encoding="utf-8")
        assert {"export.damaged", "export.changed"} & set(codes(path)) or is_as_written(path.read_text()) is None, at


def test_an_export_of_an_earlier_program_is_checked_without_its_digest(mapped: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    export(mapped.document, EXPORTS["json"], path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:-3], lines[-3].rstrip(","), lines[-1]]), encoding="utf-8")
    found = check_export(path)
    assert "export.without-digest" in {problem.code for problem in found.problems}
    assert {problem.severity for problem in found.problems} <= {Severity.NOTE}


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_an_export_that_a_program_laid_out_anew_is_changed(
    format_: str, indent: int | None, mapped: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    export(mapped.document, EXPORTS[format_], path)
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content, indent=indent), encoding="utf-8")
    assert codes(path) == ["export.changed"]
    path.write_text(json.dumps({"digest": content.pop("digest"), **content}, indent=indent), encoding="utf-8")
    assert codes(path) == ["export.changed"]


def test_an_export_with_line_ends_of_another_system_is_as_it_was_written_and_a_change_in_it_is_found(
    mapped: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "a.json"
    export(mapped.document, EXPORTS["json"], path)
    raw = path.read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(raw)
    assert not {"export.changed", "export.without-digest"} & {each.code for each in check_export(path).problems}
    path.write_bytes(raw.replace(b'"status"', b'"status" ', 1))
    assert "export.changed" in codes(path)


def test_an_export_with_odd_names_is_as_it_was_written(tmp_path: Path) -> None:
    export(odd_document(), EXPORTS["json"], tmp_path / "a.json", Choices(include_unconfirmed=True))
    assert "export.changed" not in codes(tmp_path / "a.json")


@pytest.mark.parametrize("format_", ["json", "dusb"])
def test_an_export_must_show_what_its_project_has_published(format_: str, mapped: Workbench, tmp_path: Path) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id")))
    publish(mapped)
    path = tmp_path / "a"
    export_published(mapped, EXPORTS[format_], path)
    assert "export.differs-from-project" not in codes(path, mapped.path)
    mapped.do(AddVersion(Side.CDM, declare("more", "1", "x")))
    assert "export.differs-from-project" not in codes(path, mapped.path)
    publish(mapped)
    assert "export.differs-from-project" in codes(path, mapped.path)


def test_a_file_that_is_not_there_is_no_finding(tmp_path: Path) -> None:
    with pytest.raises(SchemaError):
        check_export(tmp_path / "none.json")
