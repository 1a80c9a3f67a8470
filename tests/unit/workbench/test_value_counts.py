"""What the samples of a project say of the values of an attribute, and that nothing is said of masked ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.samples.kept_samples import keep_samples
from metl_gui.workbench.samples.project_samples import ProjectSamples
from metl_gui.workbench.session import Workbench
from tests.unit.workbench.conftest import declare
from tests.unit.workbench.test_samples import ORDERS, mask, own_cache, record, write

__all__ = ["own_cache"]


@pytest.fixture
def samples(mapped: Workbench, tmp_path: Path) -> ProjectSamples:
    """Six messages, each of an id of its own."""
    values = ("C-7", "C-7", "C-8", "", None)
    rows = [record(id=str(at), customer_id=value) for at, value in enumerate(values)]
    keep_samples(mapped, write(tmp_path, *rows, record(op="r", customer_id="C-9", amount=None)))
    return ProjectSamples(mapped)


def words(samples: ProjectSamples, workbench: Workbench, side: Side, path: str) -> str:
    """What is said of an attribute of the first version."""
    document = workbench.document
    version = document.tree(side).version(1)
    attribute = version.at_path(path)
    assert attribute is not None
    ask = samples.counts if side is Side.EXTRACTION else samples.target_counts
    found = ask(document, document, version.id, attribute.id)
    return found.words() if found is not None else ""


def test_values_are_counted_with_what_is_missing_and_empty(samples: ProjectSamples, mapped: Workbench) -> None:
    told = words(samples, mapped, Side.EXTRACTION, "customer_id")
    assert told == "6 samples: 83 % filled, 1 empty, 3 different, mostly C-7 (2)"
    assert words(samples, mapped, Side.CDM, "payer_id") == told
    assert words(samples, mapped, Side.EXTRACTION, "legacy") == "6 samples: 0 % filled"


def test_nothing_is_said_of_masked_attributes_nor_of_what_they_feed(samples: ProjectSamples, mapped: Workbench) -> None:
    before = mapped.document
    mask(mapped, "customer_id")
    assert words(samples, mapped, Side.EXTRACTION, "customer_id") == ""
    assert words(samples, mapped, Side.CDM, "payer_id") == ""
    version = before.extraction.version(1)
    attribute = version.at_path("customer_id")
    assert attribute is not None
    assert samples.counts(before, mapped.document, version.id, attribute.id) is None  # an earlier state is shown


def test_the_newest_version_with_samples_stands_for_one_without(samples: ProjectSamples, mapped: Workbench) -> None:
    mapped.do(AddVersion(Side.EXTRACTION, declare(ORDERS, "9", "customer_id", "fresh")))
    schema = mapped.document.extraction.named(ORDERS)
    assert schema is not None
    version = mapped.document.extraction.version(schema.version_ids[-1])
    found = {a.path: samples.counts(mapped.document, mapped.document, version.id, a.id) for a in version.attributes}
    kept = found["customer_id"]
    assert kept is not None
    assert kept.messages == 6
    assert found["fresh"] is None


def test_a_value_that_the_log_left_out_counts_as_no_message(mapped: Workbench, tmp_path: Path) -> None:
    left_out = record(customer_id="__debezium_unavailable_value")
    keep_samples(mapped, write(tmp_path, record(), left_out))
    told = words(ProjectSamples(mapped), mapped, Side.EXTRACTION, "customer_id")
    assert told == "1 sample: 100 % filled, 1 different"
