"""The position that messages name: topic, partition and offset where both are digits, else the line of the file."""

from __future__ import annotations

import json

import pytest

from metl_gui.engine.mapping.kernel import Kernel
from tests.helpers.plans import map_all, plan_of

_BLOCK = {"entity": "e", "entity_version": "1", "targets": [["id", "id_of"]]}
_PLAN = plan_of(
    {
        "schemas": [
            {"name": "srv.pub.t0", "versions": [{"label": "1", "paths": ["id"], "key": ["id"], "blocks": [_BLOCK]}]}
        ]
    }
)
_OFFSETS = (
    "5", "0", "1" * 15, "1" * 16, "1" * 17, "1" * 40, "-1", "1.5", f"{'1' * 16}.5", f"{'1' * 20}.5", f"1.{'1' * 20}",
    "1e3", '"7"', "null",
)  # fmt: skip


@pytest.mark.parametrize("offset", _OFFSETS)
def test_a_record_has_its_place_in_the_topic_where_its_offset_is_made_of_digits(offset: str) -> None:
    change = {"before": None, "after": {"id": 1}, "source": {"name": "srv", "schema": "pub", "table": "t0"}, "op": "u"}
    known = json.dumps({"topic": "srv.pub.t0", "value": change, "partition": 3, "offset": 5}).encode()
    raws = [known, known.replace(b'"offset": 5', f'"offset": {offset}'.encode())]
    ours = map_all(Kernel(_PLAN, choice="compiled", patience=0), raws)
    theirs = map_all(Kernel(_PLAN, choice="reference"), raws)
    assert ours.messages() == theirs.messages()
    assert ours.hits == 2
    assert (f"srv.pub.t0/3/{offset}".encode() in ours.messages()[-1]) is offset.isdigit()
