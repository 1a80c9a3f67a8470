"""Schemas in: what is added, unchanged, refused, and what now needs review."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.progress import Progress, Watch
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.errors import RunCancelled, SchemaError
from metl_gui.packaged import sample_projects
from metl_gui.workbench.importing.schema_import import add_reading, import_sources
from metl_gui.workbench.session import Workbench

from .conftest import declare


def write_schema(folder: Path, title: str, label: str, *names: str) -> Path:
    """Write a JSON Schema of optional strings."""
    path = folder / title / f"{label}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    properties = {name: {"type": "string"} for name in names}
    document: dict[str, Any] = {"title": title, "type": "object", "properties": properties}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def empty(tmp_path: Path) -> Any:
    with Workbench.create(tmp_path / "empty.metl") as opened:
        yield opened


def test_versions_of_a_folder_are_added_in_their_order_whatever_the_files_are_called(
    empty: Workbench, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    write_schema(folder, "rate", "1.10.0", "a", "b", "c")
    write_schema(folder, "rate", "1.9.0", "a", "b")
    result = import_sources(empty, Side.CDM, [folder])
    assert [(added.version, added.attributes) for added in result.added] == [("1.9.0", 2), ("1.10.0", 3)]
    assert result.state == 2
    assert result.as_json()["blocks"] == {"same": 0, "smaller": 0, "emptied": 0, "first": 1}
    assert result.as_json()["added"][0]["tree"] == "cdm"


def test_an_import_is_one_undo_step(empty: Workbench, tmp_path: Path) -> None:
    before = state_hash(empty.document)
    write_schema(tmp_path / "in", "rate", "1", "a")
    write_schema(tmp_path / "in", "fee", "1", "a")
    import_sources(empty, Side.CDM, [tmp_path / "in"])
    empty.undo()
    assert state_hash(empty.document) == before


def test_what_is_there_already_is_unchanged_and_gets_the_new_label(empty: Workbench, tmp_path: Path) -> None:
    write_schema(tmp_path / "in", "rate", "1.0.0", "a")
    write_schema(tmp_path / "other", "rate", "2.0.0", "a")
    import_sources(empty, Side.CDM, [tmp_path / "in"])
    again = import_sources(empty, Side.CDM, [tmp_path / "other"])
    assert (again.added, [version.version for version in again.unchanged]) == ((), ["1.0.0"])
    rate = empty.document.cdm.named("rate")
    assert rate is not None
    assert empty.document.cdm.versions(rate.id)[0].labels == ("1.0.0", "2.0.0")
    third = import_sources(empty, Side.CDM, [tmp_path / "in"])
    assert third.state == again.state


def test_one_label_with_two_contents_is_refused_and_the_rest_goes_in(empty: Workbench, tmp_path: Path) -> None:
    write_schema(tmp_path / "in", "rate", "1.0.0", "a")
    import_sources(empty, Side.CDM, [tmp_path / "in"])
    clash = write_schema(tmp_path / "other", "rate", "1.0.0", "b")
    write_schema(tmp_path / "other", "fee", "1.0.0", "b")
    result = import_sources(empty, Side.CDM, [tmp_path / "other"])
    assert [added.name for added in result.added] == ["fee"]
    assert [refusal.source for refusal in result.refused] == [str(clash)]
    assert "another content" in result.refused[0].reason
    assert not result.is_all_refused


@pytest.mark.parametrize(("added", "is_same"), [("__deleted", True), ("gone", False)])
def test_what_flattening_adds_and_older_readers_kept_is_no_other_content(
    empty: Workbench, tmp_path: Path, added: str, is_same: bool
) -> None:
    fields = [{"type": "int32", "field": "id"}, {"type": "string", "optional": True, "field": added}]
    schema = {"type": "struct", "name": "shop.public.orders.Value", "version": 1, "fields": fields}
    own = (AttributeDeclaration("id", "int32", optional=False), AttributeDeclaration(added, "string"))
    empty.do(AddVersion(Side.EXTRACTION, VersionDeclaration("shop.public.orders", own, "1")))
    file = tmp_path / "orders.json"
    file.write_text(json.dumps(schema if is_same else {**schema, "fields": fields[:1]}))
    before = state_hash(empty.document)
    result = import_sources(empty, Side.EXTRACTION, [file])
    assert [one.version for one in result.unchanged] == (["1"] if is_same else [])
    assert ["another content" in one.reason for one in result.refused] == ([] if is_same else [True])
    assert state_hash(empty.document) == before


def test_registry_addresses_and_missing_files_are_refused_by_name(empty: Workbench, tmp_path: Path) -> None:
    result = import_sources(empty, Side.EXTRACTION, ["http://127.0.0.1:1/apis", tmp_path / "nothing.json"])
    assert result.is_all_refused
    assert [refusal.reason.partition(".")[0] for refusal in result.refused] == ["http://127", "There is no such file"]
    assert empty.document.state == 0


def test_an_unknown_format_raises_before_anything_is_read(empty: Workbench, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no format"):
        import_sources(empty, Side.CDM, [tmp_path], "avrro")


def test_a_cancelled_import_goes_on_when_it_is_run_again(empty: Workbench, tmp_path: Path) -> None:
    for number in range(1, 6):
        write_schema(tmp_path / "in", f"entity{number}", "1", "a")
    seen: list[Progress] = []
    watch = Watch(seen.append, lambda: sum(progress.text.startswith("Adding") for progress in seen) >= 3)
    with pytest.raises(RunCancelled):
        import_sources(empty, Side.CDM, [tmp_path / "in"], watch=watch)
    half = empty.document.state
    assert half == 3
    result = import_sources(empty, Side.CDM, [tmp_path / "in"])
    assert (len(result.unchanged), len(result.added), result.state) == (half, 5 - half, 5)


def test_the_sample_is_imported_whole_and_its_waiting_version_shrinks_two_blocks(
    empty: Workbench,
) -> None:
    fx = sample_projects() / "fx"
    cdm = import_sources(empty, Side.CDM, [fx / "cdm"])
    schemas = import_sources(empty, Side.EXTRACTION, [fx / "schemas"])
    assert (len(cdm.added), cdm.refused) == (12, ())
    assert schemas.refused == ()
    assert len({added.name for added in schemas.added}) == 15
    orders = empty.document.extraction.named("fx.payments.orders")
    assert orders is not None
    assert [version.label for version in empty.document.extraction.versions(orders.id)] == ["1", "2", "3", "4"]
    newest = empty.document.extraction.newest(orders.id)
    assert newest is not None
    assert newest.key == ("id",)


def test_a_file_named_by_itself_has_the_label_it_is_called_by(empty: Workbench, tmp_path: Path) -> None:
    path = write_schema(tmp_path / "in", "rate", "2.1.0", "a")
    (added,) = import_sources(empty, Side.CDM, [path]).added
    assert (added.name, added.version) == ("rate", "2.1.0")


def test_a_killed_import_ends_as_if_nothing_had_happened_when_it_is_run_again(empty: Workbench, tmp_path: Path) -> None:
    for number in range(300):
        names = [f"a{at}" for at in range(number % 7 + 1)]
        write_schema(tmp_path / "in", f"entity{number % 30}", f"{number // 30 + 1}.0.0", *names)
    import_sources(empty, Side.CDM, [tmp_path / "in"])
    script = (
        "import sys\nfrom pathlib import Path\nfrom metl_gui.core.trees.nodes import Side\n"
        "from metl_gui.workbench.importing.schema_import import import_sources\n"
        "from metl_gui.workbench.session import Workbench\n"
        "with Workbench.open(Path(sys.argv[1])) as workbench:\n"
        "    import_sources(workbench, Side.CDM, [sys.argv[2]])\n"
    )
    path = tmp_path / "killed.metl"
    Workbench.create(path).close()
    command = [sys.executable, "-c", script, str(path), str(tmp_path / "in")]
    with subprocess.Popen(command) as child, Workbench.open(path, for_editing=False) as reader:
        while reader.reload().state < 20:
            assert child.poll() is None
            time.sleep(0.002)
        child.kill()
    with Workbench.open(path) as again:
        done = again.document.state
        assert 20 <= done < empty.document.state
        result = import_sources(again, Side.CDM, [tmp_path / "in"])
        assert result.unchanged
        assert result.state == empty.document.state
        assert state_hash(again.document) == state_hash(empty.document)


def test_a_key_that_was_not_known_is_noted_when_a_source_brings_it(workbench: Workbench) -> None:
    declared = declare("fx.pay.orders", "1", "id", "customer_id", "amount", "legacy", key=("id",))
    result = add_reading(workbench, Side.EXTRACTION, ReaderResult((declared, declared)))
    assert (len(result.unchanged), result.state) == (2, 5)
    assert workbench.undo_title() == "Note that id is the key of fx.pay.orders version 1"
    orders = workbench.document.extraction.named("fx.pay.orders")
    assert orders is not None
    assert workbench.document.extraction.versions(orders.id)[0].key == ("id",)
    assert state_hash(workbench.read_again()) == state_hash(workbench.document)
    foreign = replace(declare("fx.pay", "1", "orders", "id"), key=("nothing",))
    refused = add_reading(workbench, Side.EXTRACTION, ReaderResult((foreign,))).refused
    assert "nothing" in refused[0].reason


def test_a_further_name_that_another_source_brings_is_noted_with_what_is_there_already(empty: Workbench) -> None:
    first = declare("pay.orders", "1", "id")
    add_reading(empty, Side.EXTRACTION, ReaderResult((first, declare("pay.fees", "1", "id"))))
    again = ReaderResult((replace(first, aliases=("orders-topic", "pay.fees")),))
    assert add_reading(empty, Side.EXTRACTION, again).state == 3
    found = empty.document.extraction.named("orders-topic")
    assert found is not None
    assert (found.name, found.aliases) == ("pay.orders", ("orders-topic",))
    assert add_reading(empty, Side.EXTRACTION, again).state == 3
