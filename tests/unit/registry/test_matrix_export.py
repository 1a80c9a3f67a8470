"""Exports read back with no project at hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metl_gui.core.differences.document_difference import compare_by_names
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.settings import SetSettings
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.search.checks import check
from metl_gui.core.search.problems import Severity
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.errors import SchemaError
from metl_gui.registry.matrix_export import parse_export
from metl_gui.workbench.exports.matrix import dusb_text, json_text, laid_out
from tests.helpers.histories import Steps, start, steps, world_of
from tests.helpers.world import World

PIPES = (json_text, dusb_text)


def _played(history: Steps, going_on: set[str]) -> Document:
    world = world_of(history)
    for schema in world.document.extraction.schemas():
        if schema.name in going_on:
            world.do(SetSettings(Side.EXTRACTION, schema.id, (("meanwhile", "map what is left"),)))
    return world.document


_going_on = st.sets(st.sampled_from(["s1", "s2", "s3"]))


@given(steps, _going_on, st.booleans(), st.sampled_from(PIPES))
def test_an_export_that_was_read_is_written_again_byte_for_byte(
    history: Steps, going_on: set[str], include_unconfirmed: bool, text_of: Callable[[Document, bool], str]
) -> None:
    text = text_of(_played(history, going_on), include_unconfirmed)
    assert laid_out(parse_export(text.encode()).content()) == text


@given(steps, _going_on, st.booleans())
def test_the_compact_export_decompacts_to_the_document_of_the_other(
    history: Steps, going_on: set[str], include_unconfirmed: bool
) -> None:
    document = _played(history, going_on)
    dense, compact = (parse_export(text_of(document, include_unconfirmed).encode()) for text_of in PIPES)
    assert state_hash(dense.document) == state_hash(compact.document)
    assert compare_by_names(dense.document, compact.document).is_empty


@given(steps)
def test_what_was_exported_whole_has_the_hash_that_the_export_states(history: Steps) -> None:
    document = _played(history, {"s1", "s2", "s3"})
    export = parse_export(json_text(document, True).encode())
    assert export.is_whole
    assert compare_by_names(document, export.document).is_empty


def _mutated(value: Any, random: Random) -> Any:
    """Change one thing somewhere below a value."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        if random.random() < 0.15:
            return {key: each for key, each in value.items() if key != name}
        return value | {name: _mutated(value[name], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        at = random.randrange(len(value))
        if random.random() < 0.15:
            return random.choice((value[:at] + value[at + 1 :], [*value, value[at]]))
        return [*value[:at], _mutated(value[at], random), *value[at + 1 :]]
    return random.choice((None, True, 0, -1, 1 << 40, 1.5, "", "a", "10", "needs review", [], {}, [[]], {"from": "a"}))


@given(steps, st.integers(0, 1 << 30), st.sampled_from(PIPES))
def test_a_damaged_export_is_refused_with_a_place_or_gives_a_document_that_keeps_the_rules(
    history: Steps, seed: int, text_of: Callable[[Document, bool], str]
) -> None:
    content = json.loads(text_of(_played(history, {"s1"}), True))
    text = json.dumps(_mutated(content, Random(seed)))
    try:  # whatever else is raised fails the test
        document = parse_export(text.encode()).document
    except SchemaError:
        return
    assert not [problem for problem in check(document) if problem.severity is Severity.ERROR]
    laid_out(parse_export(text.encode()).content())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "line 1, column 1"),
        (b'{"format": "metl-matrix",\n "version": 1,}', "line 2"),
        (b'{"format": "metl-matrix", "format": "metl-matrix"}', "'format' stands twice"),
        (b"[]", "The document: an object is needed here, not a list"),
        (b'{"format": "other"}', "format: 'other' is no export"),
        (b'{"format": "metl-matrix", "version": 2}', "version: this program reads version 1, not 2"),
        (b'{"format": "metl-matrix", "version": true}', "version: a whole number is needed here, not true or false"),
        (b'{\n<<<<<<< HEAD\n"version": 1\n=======\n>>>>>>> x\n}', "at line 2"),
        (b"\xff{}", "Byte 0"),
    ],
)
def test_what_is_no_export_is_refused_with_where(text: bytes, said: str) -> None:
    with pytest.raises(SchemaError) as refused:
        parse_export(text)
    assert said in str(refused.value)


def test_attributes_that_were_changed_by_hand_are_refused_by_their_fingerprint() -> None:
    text = json_text(start().document)
    with pytest.raises(SchemaError, match=r"trees\.schemas\[0\]\.versions\[0\]\.fingerprint"):
        parse_export(text.replace('"path": "a"', '"path": "other"', 1).encode())


def _add(world: World, side: Side, name: str, label: str, *paths: str) -> Version:
    attributes = tuple(AttributeDeclaration(path, "string") for path in paths)
    world.do(AddVersion(side, VersionDeclaration(name, attributes, label)))
    return world.version(side, name, label)


def test_names_of_odd_characters_come_back_as_they_were() -> None:
    world = World()
    version = _add(world, Side.EXTRACTION, 'we"ird/\u27e8\u00fc\u27e9@1:x.y', "1:a\\", "b", "a\\.b", "n\u00e9 e")
    _add(world, Side.EXTRACTION, "plain", "1", "b", "c")
    entity_version = _add(world, Side.CDM, "en:t@ity", "@", "q\\\\", "x:y")
    ones = (Element(entity_version.attributes[0].id, version.attributes[2].id),)
    world.do(SetElements((version.id, entity_version.id), ones=ones))
    text = json_text(world.document)
    export = parse_export(text.encode())
    assert laid_out(export.content()) == text
    assert export.is_whole


def test_two_lineages_whose_labels_and_paths_make_one_text_stay_two() -> None:
    world = World()
    _add(world, Side.EXTRACTION, "s", "1", "a:b")
    _add(world, Side.EXTRACTION, "s", "1:a", "b")
    document = parse_export(json_text(world.document).encode()).document
    schema = document.extraction.named("s")
    assert schema is not None
    assert len({a.lineage for v in document.extraction.versions(schema.id) for a in v.attributes}) == 2
