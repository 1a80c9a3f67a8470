"""Every file of the Debezium samples, through the real kernel, against counts that were worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Choice, Kernel
from metl_gui.engine.mapping.plan_compiler import compile_plan
from metl_gui.engine.sources.batches import read_batches
from metl_gui.engine.sources.files import cut_ranges, list_files
from metl_gui.workbench.session import Workbench
from tests.helpers.cases import FOLDER
from tests.helpers.sample_projects import fill
from tests.helpers.shared import shared

CASES: list[dict[str, Any]] = yaml.load((FOLDER / "debezium_samples.yml").read_text(encoding="utf-8"), yaml.CSafeLoader)
KINDS = ("by_reason", "by_skip", "by_entity")


def records_of(path: Path) -> list[Records]:
    listing = list_files(str(path))
    files, tasks = cut_ranges(listing)
    return [batch.records for task in tasks for batch in read_batches(files, task)]


@pytest.mark.parametrize("choice", ["reference", "compiled"])
@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_every_record_of_a_sample_ends_where_the_reference_says(
    case: dict[str, Any], choice: Choice, tmp_path: Path
) -> None:
    shared("debezium-samples", case["file"])
    with Workbench.create(tmp_path / "p.metl") as workbench:
        fill(workbench, case)
        plan = compile_plan(workbench.document, wire=workbench.kept.writer_schemas.all())
    kernel = Kernel(plan, choice=choice, patience=0)
    (counts,) = [kernel.map(records).counts() for records in records_of(shared("debezium-samples", case["file"]))]
    set_aside, skipped = (sum(case.get(name, {}).values()) for name in ("by_reason", "by_skip"))
    assert {name: counts[name] for name in KINDS} == {name: case.get(name, {}) for name in KINDS}
    assert (counts["read"], counts["mapped"], counts["filtered"], counts["set_aside"], counts["skipped"]) == (
        case["read"],
        case.get("mapped", 0),
        case.get("filtered", 0),
        set_aside,
        skipped,
    )
    assert case["read"] == case.get("mapped", 0) + case.get("filtered", 0) + set_aside + skipped
    assert counts["by_version"] == case.get("by_version", counts["by_version"])
