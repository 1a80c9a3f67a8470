"""What an export says can be used with nothing else at hand.

Source: docs/guide/exports.md, "The documents `json` and `dusb`".
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.matrix.canonical import dusb_content, matrix_content
from metl_gui.core.trees.nodes import Side
from tests.helpers.histories import Steps, steps, world_of

Content = dict[str, Any]
Blocks = dict[tuple[str, ...], set[tuple[str, str]]]


def decompacted(export: Content) -> Blocks:
    """Give every version the block kept last, by the names, paths and lineages in the export alone."""
    schemas = {schema["name"]: schema["versions"] for schema in export["trees"]["schemas"]}
    blocks: Blocks = {}
    for group in export["groups"]:
        kept = {block["version"]: block["elements"] for block in group["kept"]}
        content: set[tuple[str, str]] = set()
        for version in schemas[group["schema"]]:
            lineages = {a["path"]: a["lineage"] for a in version["attributes"]}
            if version["version"] in kept:
                content = {(lineages[e["from"]], e["to"]) for e in kept[version["version"]]}
            own = {lineage: path for path, lineage in lineages.items()}
            if content:
                key = group["schema"], version["version"], group["entity"], group["entity_version"]
                blocks[key] = {(own[lineage], to) for lineage, to in content}
    return blocks


def name(block: Content) -> tuple[str, ...]:
    """Name a block of an export."""
    return block["schema"], block["version"], block["entity"], block["entity_version"]


@given(steps, st.booleans(), st.sets(st.sampled_from(["s1", "s2", "s3"])))
def test_the_compact_export_decompacts_to_the_blocks_of_the_other(
    history: Steps, include_unconfirmed: bool, going_on: set[str]
) -> None:
    world = world_of(history)
    for schema in world.document.extraction.schemas():
        if schema.name in going_on:
            world.do(SetSettings(Side.EXTRACTION, schema.id, (("meanwhile", "map what is left"),)))
    dense = json.loads(json.dumps(matrix_content(world.document, include_unconfirmed)))
    compact = json.loads(json.dumps(dusb_content(world.document, include_unconfirmed)))
    expected = {name(b): {(e["from"], e["to"]) for e in b["elements"]} for b in dense["blocks"] if b["elements"]}
    assert decompacted(compact) == expected
    held = [block for block in dense["blocks"] if block.get("held")]
    assert [name(block) for block in compact["held"]] == [name(block) for block in held]
    assert all(block["held"] for block in compact["held"])
    assert compact["trees"] == dense["trees"]
    assert compact["settings"] == dense["settings"]
    assert dense["settings"]["include_unconfirmed"] is include_unconfirmed
