"""The JSON documents that other people's scripts read (docs/reference/json.md): keys may come, none may go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.project.reader_result import ReaderResult, SkippedSource
from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.history.states import history
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.mapping.search import forward, versions
from metl_gui.workbench.publishing.checks import check_project
from metl_gui.workbench.review.decisions import review_list
from metl_gui.workbench.session import Workbench

from .conftest import declare

BLOCK = {"schema": "", "version": "", "entity": "", "entity_version": ""}
ELEMENT = {"from": "", "to": ""}
CONTRACT: dict[str, Any] = {
    "import": {
        "state": 0,
        "added": [{"tree": "", "name": "", "version": "", "attributes": 0, "source": ""}],
        "unchanged": [{"name": "", "version": "", "source": ""}],
        "refused": [{"source": "", "reason": ""}],
        "blocks": {"same": 0, "smaller": 0, "emptied": 0, "first": 0},
        "needs_review": 0,
    },
    "review": {
        "state": 0,
        "items": [
            {
                "block": BLOCK,
                "came_from": BLOCK,
                "verdict": "",
                "status": "",
                "kept": [ELEMENT],
                "lost": [{**ELEMENT, "reason": ""}],
                "new_attributes": [""],
                "type_changes": [{"path": "", "from": "", "to": "", "compatible": True}],
                "proposals": [{"lost": "", "candidate": "", "score": 0.5, "reason": ""}],
            }
        ],
        "version_tasks": [],
    },
    "forward": {"results": [{"block": BLOCK, "element": ELEMENT, "status": ""}]},
    "versions": {
        "schema": "",
        "versions": [{"version": "", "entity": "", "entity_version": "", "elements": 0, "change": ""}],
    },
    "history": {
        "state": 0,
        "states": [{"state": 0, "title": "", "who": "", "when": "", "named": None, "published": False}],
    },
    "check": {"problems": [{"severity": "", "code": "", "place": "", "message": "", "hint": ""}]},
}


@pytest.fixture
def documents(mapped: Workbench) -> dict[str, Any]:
    """Every document, each list of it with something inside."""
    mapped.do(
        AddVersion(Side.EXTRACTION, declare("fx.pay.orders", "2", "id", "amount:int32", "legacy", "customer_ref"))
    )
    known = declare("payment", "1", "payment_id", "payer_id", "amount", "legacy_code")
    reading = ReaderResult((declare("rate", "1", "base"), known), (SkippedSource("file", "why"),))
    imported = add_reading(mapped, Side.CDM, reading)
    return {
        "import": imported.as_json(),
        "review": review_list(mapped.document).as_json(),
        "forward": forward(mapped.document, "fx.pay.orders").as_json(),
        "versions": versions(mapped.document, "fx.pay.orders").as_json(),
        "history": history(mapped).as_json(),
        "check": check_project(mapped).as_json(),
    }


@pytest.mark.parametrize("name", CONTRACT)
def test_a_document_has_every_key_of_the_contract_with_its_type(documents: dict[str, Any], name: str) -> None:
    assert_like(json.loads(json.dumps(documents[name])), CONTRACT[name], name)


def assert_like(found: Any, wanted: Any, place: str) -> None:
    """Compare types and keys all the way down, in lists with the first member."""
    if isinstance(wanted, dict):
        for key, value in wanted.items():
            assert key in found, f"{place}.{key}"
            assert_like(found[key], value, f"{place}.{key}")
    elif isinstance(wanted, list):
        assert isinstance(found, list), place
        assert found or not wanted, f"{place} is empty"
        for each in wanted and found[:1]:
            assert_like(each, wanted[0], place)
    elif wanted is not None:
        assert type(found) is type(wanted), place
