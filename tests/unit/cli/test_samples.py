"""``metl samples`` and ``metl preview``: their documents, what they keep and forget, and what they never print."""

from __future__ import annotations

import io
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from metl_gui import packaged
from metl_gui.cli.main import main
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.workbench.demo.sample import SampleFolder, add_waiting, build_project
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import fill

Metl = Callable[..., tuple[int, Any, str]]
RECORD = b'{"topic":"fx.pay.orders","value":{"before":null,"after":%b,"op":"c"}}'
ROW = b'{"id":"VERY-SECRET","customer_id":null,"amount":12.50,"legacy":-0.0}'


@pytest.fixture
def metl(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Metl:
    """Run a command with --json; gives the exit code, the document and what was said beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: object) -> tuple[int, Any, str]:
        try:
            code = main([*(str(argument) for argument in arguments), "--json"])
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, json.loads(said.out) if said.out else None, said.err

    return run


@pytest.fixture
def project(tmp_path: Path, metl: Metl) -> Path:
    path, table = tmp_path / "pay.metl", tmp_path / "map.csv"
    with Workbench.create(path) as workbench:
        fill(workbench)
    table.write_text(
        "schema,schema_version,attribute,entity,entity_version,cdm_attribute\n"
        "fx.pay.orders,1,id,payment,1,payment_id\nfx.pay.orders,1,amount,payment,1,amount\n"
    )
    assert metl("map", path, "--csv", table)[0] == 0
    return path


@pytest.fixture
def messages(tmp_path: Path) -> Path:
    path = tmp_path / "messages.jsonl"
    path.write_bytes(RECORD % ROW + b"\n" + RECORD % b'{"unheard":1}' + b"\nnull\n{\n")
    return path


def test_a_preview_prints_the_bytes_that_a_test_run_writes_and_its_counts_add_up(
    metl: Metl, project: Path, messages: Path
) -> None:
    code, document, _ = metl("preview", project, "--source", messages)
    assert code == 0
    counts = {name: document[name] for name in ("read", "mapped", "filtered", "set_aside", "skipped")}
    assert counts == {"read": 4, "mapped": 1, "filtered": 0, "set_aside": 2, "skipped": 1}
    assert [each["fate"] for each in document["records"]] == ["mapped", "set_aside", "skipped", "set_aside"]
    with Workbench.open(project, for_editing=False) as workbench:
        plan = compile_plan(workbench.document)
    raws = messages.read_bytes().splitlines()
    positions = [0, *(sum(len(raw) + 1 for raw in raws[:at]) for at in range(1, len(raws)))]
    whole = Kernel(plan, choice="reference").map(Records.of(raws, "messages.jsonl", positions))
    printed = [message["message"].encode() for each in document["records"] for message in each["messages"]]
    assert printed == whole.messages()
    assert b'"amount":12.50' in printed[0]


def test_a_preview_prints_a_message_on_one_line_although_its_values_span_some(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "pretty.json"
    source.write_bytes(RECORD % b'{"id":1,"customer_id":null,"amount":{\r\n  "a": "\\n"\n},"legacy":0}')
    assert main(["preview", str(project), "--source", str(source)]) == 0
    message = next(line for line in capsys.readouterr().out.split("\n") if line.startswith("  {"))
    assert json.loads(message)["payload"]["amount"] == {"a": "\n"}


def test_a_preview_reads_the_standard_input_up_to_its_limit(
    metl: Metl, project: Path, messages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(messages.read_bytes())))
    code, document, _ = metl("preview", project, "--source", "-", "--limit", 2)
    assert code == 0
    assert document["read"] == 2
    assert [each["position"] for each in document["records"]] == ["stdin@0", f"stdin@{len(RECORD % ROW) + 1}"]


def test_a_preview_of_nothing_that_is_there_ends_with_1_and_a_hint(metl: Metl, project: Path, tmp_path: Path) -> None:
    code, document, said = metl("preview", project, "--source", tmp_path / "none.jsonl")
    assert code == 1
    assert "does not exist" in document["error"]["title"]
    assert "hint:" in said


def test_samples_are_kept_counted_included_excluded_and_forgotten(metl: Metl, project: Path, messages: Path) -> None:
    assert metl("samples", project)[1] == {"schemas": []}
    code, document, _ = metl("samples", project, "--keep", messages)
    assert code == 0
    assert document["kept"] == {
        "read": 4, "kept": 2, "schemas": ["fx.pay.orders"], "no_schema": 2, "too_large": 0, "problem": "",
    }  # fmt: skip
    (schema,) = document["schemas"]
    assert (schema["schema"], schema["included"], schema["samples"]) == ("fx.pay.orders", False, 2)
    assert [(each["version"], each["samples"]) for each in schema["versions"]] == [("", 1), ("1", 1)]
    assert metl("samples", project, "--include", "fx.pay.orders")[1]["schemas"][0]["included"]
    assert metl("samples", project, "--exclude", "fx.pay.orders")[1]["excluded"]
    assert metl("samples", project, "--forget")[1] == {"forgotten": 1, "schemas": []}


def test_the_list_of_samples_tells_forms_and_no_value(metl: Metl, project: Path, messages: Path) -> None:
    document = metl("samples", project, "--keep", messages)[1]
    assert "VERY-SECRET" not in json.dumps(document)
    assert "AAAA-A+" in json.dumps(document)


def test_a_schema_that_is_not_there_ends_with_1(metl: Metl, project: Path) -> None:
    code, document, _ = metl("samples", project, "--include", "nobody")
    assert code == 1
    assert "nobody" in document["error"]["title"]


def test_two_wishes_at_once_are_wrong_usage(metl: Metl, project: Path, messages: Path) -> None:
    assert metl("samples", project, "--forget", "--keep", messages)[0] == 2


def test_masked_values_are_printed_by_neither_command(
    metl: Metl, project: Path, messages: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert metl("set", project, "--schema", "fx.pay.orders", "mask=id")[0] == 0
    for arguments in (
        ("preview", project, "--source", messages),
        ("samples", project, "--keep", messages),
        ("samples", project, "--include", "fx.pay.orders"),
        ("suggest", project),
    ):
        code, document, said = metl(*arguments)
        assert code == 0
        assert "VERY-SECRET" not in json.dumps(document) + said
        main([str(argument) for argument in arguments])
        assert "VERY-SECRET" not in "".join(capsys.readouterr())
    with Workbench.open(project, for_editing=False) as workbench:
        schema = workbench.document.extraction.named("fx.pay.orders")
        assert schema is not None
        assert b"VERY-SECRET" not in workbench.kept.samples.included_text(schema.id)
        assert workbench.document.tree(Side.EXTRACTION).versions(schema.id)


def test_values_speak_for_a_rename_in_the_review_list(metl: Metl, tmp_path: Path) -> None:
    """The version of the sample that waits renames ``customer_id``; messages of both versions have the same values."""
    fx = packaged.sample_projects() / "fx"
    sample = SampleFolder(Path(shutil.copytree(fx, tmp_path / "fx", ignore=shutil.ignore_patterns("making"))))
    with build_project(sample) as workbench:
        add_waiting(workbench, sample)
    both = {"id": 1, "amount": 1.5, "currency": "EUR", "created_at": "2025-01-01T00:00:00Z", "memo": None}
    both |= {"state": "new", "settled": True, "risk_score": 1}
    rows = [both | {"customer_id": f"C-{at}", "legacy_code": None} for at in range(100, 110)]
    rows += [both | {"customer_ref": f"C-{at}", "channel": "web"} for at in range(100, 110)]
    path = tmp_path / "both.jsonl"
    path.write_text("\n".join(json.dumps({"topic": "fx.payments.orders", "value": row}) for row in rows))

    def reason() -> str:
        document = metl("review", sample.project, "--list")[1]
        return next(
            str(proposal["reason"])
            for item in document["items"]
            for proposal in item["proposals"]
            if (proposal["lost"], proposal["candidate"]) == ("customer_id", "customer_ref")
        )

    assert "alike values" not in reason()
    assert metl("samples", sample.project, "--keep", path)[1]["kept"]["kept"] >= 10
    assert "alike values" in reason()
