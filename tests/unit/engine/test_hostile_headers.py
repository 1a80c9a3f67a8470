"""Headers that no registry writes decide nothing, and never end a run."""

from __future__ import annotations

import json

import pytest

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.wire_format import ids_in_headers
from metl_gui.engine.mapping.kernel import Kernel
from tests.helpers.plans import map_all, plan_of

PLAN = plan_of(
    {
        "schemas": [{"name": "s", "versions": [{"label": "1", "paths": ["id"]}]}],
        "wire": [{"id": "5", "kind": "json", "text": "", "schema": "s"}],
    }
)


@pytest.mark.parametrize(
    "number", ['"²"', f'"{"1" * 5000}"', "1" * 5000, "1e999", '"\\u0000"', "true", "[]", "-5", '""']
)
@pytest.mark.parametrize("name", ["__value_schema_id", "apicurio.value.globalId", "apicurio.value.contentId"])
def test_a_number_that_is_none_leaves_a_record_to_its_paths(name: str, number: str) -> None:
    raw = f'{{"topic":"s","value":"{{\\"id\\":1}}","headers":{{"{name}":{number}}}}}'.encode()
    assert map_all(Kernel(PLAN), [raw]).fates.tolist() == [RecordOutcome.FILTERED]


def test_a_number_in_ascii_digits_names_a_schema() -> None:
    assert ids_in_headers(json.dumps({"__value_schema_id": "5"}).encode(), "value") == ("5",)
