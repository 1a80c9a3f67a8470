"""The process of a production run, as far as it needs no Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.trees.nodes import Side
from metl_gui.engine.streaming.checkpoint import Checkpoint
from metl_gui.workbench.production_process import Production
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.runs.production import ProductionOrder
from metl_gui.workbench.session import Workbench
from tests.helpers.run_specs import run_spec

from .conftest import declare


@pytest.mark.logs("State 8 is not taken up")
def test_a_published_state_whose_entities_would_share_a_topic_is_not_taken_up_and_the_run_says_why(
    workbench: Workbench, tmp_path: Path
) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    checkpoint.plans.mkdir(parents=True)
    sink = "kafka://127.0.0.1:1/metl.{entity}"
    spec = run_spec(run_id="r", plan=b"", source="s", sink=sink, folder=str(tmp_path), checkpoint=str(checkpoint.path))
    run = Production(tmp_path, ProductionOrder(kept=spec.as_kept, target="local[1]", project=str(workbench.path)), b"")
    for name in ("a b", "a_b-c8687a08"):
        workbench.do(AddVersion(Side.CDM, declare(name, "1", "amount")))
        source = max(workbench.document.extraction.all_versions(), key=lambda version: len(version.attributes))
        target = max(workbench.document.cdm.all_versions(), key=lambda version: version.id)
        one = Element(target.attributes[0].id, source.attributes[2].id)
        workbench.do(SetElements((source.id, target.id), (one,)))
        publish(workbench)
        run._use(workbench.document.state)
    use = checkpoint.plan_in_use()
    assert use is not None
    assert use.state < workbench.document.state
    (told,) = checkpoint.problem_texts()
    assert told.startswith(f"State {workbench.document.state} is not taken up. Two entities would share a topic.")
