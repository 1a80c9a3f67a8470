"""Mappings for catalogues, read by the standard's own package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element, Status
from metl_gui.core.progress import UNWATCHED
from metl_gui.core.trees.nodes import Side
from metl_gui.core.trees.paths import escape
from metl_gui.errors import UserError
from metl_gui.workbench.exports.files import export
from metl_gui.workbench.exports.format_spec import Choices
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.exports.sssom import COLUMNS, sssom_text
from metl_gui.workbench.session import Workbench
from tests.helpers.odd_names import HOSTILE
from tests.helpers.outside import python_with, said_by
from tests.unit.workbench.conftest import declare
from tests.unit.workbench.exports.odd_document import odd_document

SSSOM = EXPORTS["sssom"]
WHOLE = Choices(include_unconfirmed=True)
ON_ONE_WORKER = pytest.mark.xdist_group("sssom")
"""What needs the package of the standard: another worker would stand still while this one installs it."""

_READ = """
import json, sys
from sssom.constants import SchemaValidationType as T
from sssom.parsers import parse_sssom_table
from sssom.validators import validate
table = parse_sssom_table(sys.argv[1])
reports = validate(table, [T.JsonSchema, T.PrefixMapCompleteness, T.StrictCurieFormat], fail_on_error=False)
wrong = [str(each.message) for report in reports.values() for each in report.results]
rows = table.df.fillna("").astype(str).to_dict("records")
print(json.dumps({"wrong": wrong, "rows": rows, "about": {k: str(v) for k, v in table.metadata.items()}}))
"""


def read_by_sssom(path: Path) -> dict[str, Any]:
    said = said_by(python_with("sssom==0.4.17"), _READ, path)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


@pytest.mark.slow
@ON_ONE_WORKER
def test_the_package_of_the_standard_reads_every_element_and_finds_nothing_wrong(
    mapped: Workbench, tmp_path: Path
) -> None:
    path = tmp_path / "mapping.sssom.tsv"
    export(mapped.document, SSSOM, path)
    found = read_by_sssom(path)
    assert found["wrong"] == []
    assert len(found["rows"]) == 6
    first = next(row for row in found["rows"] if row["object_label"] == "payer_id")
    assert first["subject_id"] == "schema:fx.pay.orders/1/customer_id"
    assert (first["predicate_id"], first["mapping_justification"]) == (
        "skos:exactMatch",
        "semapv:ManualMappingCuration",
    )
    assert (first["subject_source"], first["subject_source_version"]) == ("schema:fx.pay.orders", "1")
    assert found["about"]["mapping_set_version"] == str(mapped.document.state)


@pytest.mark.slow
@ON_ONE_WORKER
def test_the_package_of_the_standard_reads_names_that_broke_programs_and_finds_nothing_wrong(tmp_path: Path) -> None:
    path = tmp_path / "odd.sssom.tsv"
    path.write_text(sssom_text(odd_document(), WHOLE, UNWATCHED), encoding="utf-8", newline="")
    found = read_by_sssom(path)
    assert found["wrong"] == []
    words = (row["subject_id"].partition(":")[2].split("/") for row in found["rows"])
    ends = {tuple(unquote(part, errors="surrogatepass") for part in word) for word in words}
    assert ends == {(name, name, escape(name)) for name in HOSTILE}


def test_a_set_has_one_line_for_each_element_whatever_stands_in_names_and_comments() -> None:
    text = sssom_text(odd_document(), WHOLE, UNWATCHED)
    lines = text.split("\n")
    head = next(at for at, line in enumerate(lines) if not line.startswith("#"))
    assert lines[head].split("\t") == list(COLUMNS)
    assert len(lines) == head + 1 + len(HOSTILE) + 1
    assert lines[-1] == ""


def test_what_nobody_confirmed_and_what_differs_in_type_is_not_called_curated_and_exact(
    workbench: Workbench, tmp_path: Path
) -> None:
    workbench.do(AddVersion(Side.EXTRACTION, declare("fx.count", "1", "amount:string")))
    workbench.do(AddVersion(Side.CDM, declare("count", "1", "amount:int32")))
    version, entity_version = (
        next(v for v in workbench.document.tree(side).all_versions() if v.attributes[0].path == "amount")
        for side in Side
    )
    element = Element(entity_version.attributes[0].id, version.attributes[0].id)
    workbench.do(SetElements((version.id, entity_version.id), (element,), status=Status.UNCONFIRMED))
    path = tmp_path / "mapping.sssom.tsv"
    done = export(workbench.document, SSSOM, path, WHOLE)
    row = path.read_text(encoding="utf-8").splitlines()[-1].split("\t")
    assert (row[2], row[5]) == ("skos:closeMatch", "semapv:UnspecifiedMatching")
    assert any("1 element between different types" in sentence for sentence in done.says)
    assert any("1 block that nobody has confirmed" in sentence for sentence in done.says)


@pytest.mark.parametrize("said", ["", "no address", "https://a b/", "https://x\n#y: 1"])
def test_a_base_that_is_no_address_is_refused(mapped: Workbench, tmp_path: Path, said: str) -> None:
    with pytest.raises(UserError, match="is no address"):
        export(mapped.document, SSSOM, tmp_path / "a.tsv", Choices(options={"base": said}))
    assert list(tmp_path.glob("a.tsv")) == []
