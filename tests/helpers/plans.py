"""Plans written by hand, and records to map with them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from metl_gui.core.runs.records import RecordOutcome
from metl_gui.engine.kernel.outcomes import MappedBatch
from metl_gui.engine.kernel.plan import Plan
from metl_gui.engine.kernel.records import Records
from metl_gui.engine.mapping.kernel import Kernel

FATES = {
    RecordOutcome.MAPPED: "mapped",
    RecordOutcome.FILTERED: "filtered",
    RecordOutcome.SET_ASIDE: "set_aside",
    RecordOutcome.SKIPPED: "skipped",
}


def plan_of(written: dict[str, Any]) -> Plan:
    """Read a plan as cases write it: what is not said has its default."""
    schemas = [
        schema | {"versions": [{"fingerprint": ""} | version for version in schema["versions"]]}
        for schema in written["schemas"]
    ]
    return msgspec.convert({"state": 17, "hash": ""} | written | {"schemas": schemas}, Plan, strict=False)


def map_all(kernel: Kernel, raws: list[bytes]) -> MappedBatch:
    """Map records as the lines of a file called ``f``."""
    return kernel.map(Records.of(raws, "f"))


def row(outcome: MappedBatch, at: int = 0) -> dict[str, Any]:
    """Parse one row of the error store."""
    parsed: dict[str, Any] = json.loads(outcome.set_aside[at].text)
    return parsed
