"""A semantic difference as lines for people and as the document of ``metl diff``.

Order: what differs of extraction schemas, of entities, then of the mapping and of warehouse models, each by name, then
beside the states, by kind; ``+`` came, ``-`` went, ``~`` is another one. Source: docs/reference/json.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from metl_gui.core.counted import number_of
from metl_gui.core.differences.block_difference import Pair
from metl_gui.core.differences.document_difference import BlockDifference, Difference, ModelDifference, TreeDifference
from metl_gui.core.differences.tree_difference import TreeKind
from metl_gui.core.matrix.blocks import Status
from metl_gui.core.project.project_data import NamedItem, ProjectDataDifference, moment
from metl_gui.core.trees.nodes import Side

_TITLES = {Side.EXTRACTION: "Schemas", Side.CDM: "Entities"}


def difference_json(difference: Difference) -> dict[str, Any]:
    """Return the document of ``metl diff``."""
    return {
        "blocks": [_block_json(block) for block in difference.blocks],
        "trees": [_tree_json(told) for told in difference.trees],
        "beside": [_beside_json(told) for told in difference.beside],
    } | ({"models": [_model_json(told) for told in difference.models]} if difference.models else {})


def difference_lines(difference: Difference) -> Iterator[str]:
    """Describe what differs, grouped by schema and entity."""
    for side in Side:
        of_side = [told for told in difference.trees if told.side is side]
        if of_side:
            yield _TITLES[side]
        for name, told in groupby(of_side, key=lambda told: told.name):
            yield f"  {name}"
            yield from _tree_lines(list(told))
    if difference.blocks:
        yield "Mapping"
    ordered = sorted(difference.blocks, key=_ends)  # stable: versions stay in their order
    for (schema, entity), blocks in groupby(ordered, key=_ends):
        yield f"  {schema} → {entity}"
        for alike in _folded(blocks):
            yield from _block_lines(alike)
    if difference.models:
        yield "Warehouse models"
    for name, models in groupby(difference.models, key=lambda told: told.model):
        yield f"  {name}"
        yield from (f"    {_sign(told)} {told.words()}" for told in models)
    if difference.beside:
        yield "Beside the states"
    for kind, things in groupby(difference.beside, key=lambda each: each.kind):
        yield f"  {kind}"
        yield from (f"    {_sign(each)} {each.place}: {each.words()}" for each in things)


def difference_summary(difference: Difference) -> str:
    """Describe in one sentence how much differs."""
    if difference.is_empty:
        return "Nothing differs."
    came, went = difference.added, difference.removed
    parts = [f"{number_of(came, 'element')} added"] if came else []
    parts += [f"{number_of(went, 'element')} removed"] if went else []
    parts += [f"{number_of(len(difference.blocks), 'block')} changed"] if difference.blocks else []
    trees = len(difference.trees)
    parts += [f"{number_of(trees, 'change')} of schemas and entities"] if trees else []
    models = len(difference.models)
    parts += [f"{number_of(models, 'change')} of warehouse models"] if models else []
    parts += [f"{number_of(len(difference.beside), 'change')} beside the states"] if difference.beside else []
    return f"{', '.join(parts)}."


def entry_json(entry: NamedItem) -> dict[str, Any]:
    """Return a thing beside the states as text for tools shows it."""
    who = {"who": entry.own.who, "when": moment(entry.own.when_ms)} if entry.own.who else {}
    return {"kind": entry.kind.value, "place": entry.place, "says": entry.words, **who}


def _block_json(block: BlockDifference) -> dict[str, Any]:
    return {
        "block": {
            "schema": block.schema,
            "version": block.version,
            "entity": block.entity,
            "entity_version": block.entity_version,
        },
        "verdict": block.verdict.value,
        "added": [{"from": source, "to": target} for source, target in block.added],
        "removed": [{"from": source, "to": target} for source, target in block.removed],
        "kept": block.kept,
        "status": {"before": _status(block.status_before), "after": _status(block.status_after)},
        "moved_from": block.moved_from or None,
    }


def _tree_json(told: TreeDifference) -> dict[str, Any]:
    return {
        "tree": told.side.value,
        "name": told.name,
        "version": told.version or None,
        "kind": told.kind.value,
        "path": told.path or None,
        "before": told.before or None,
        "after": told.after or None,
    }


def _model_json(told: ModelDifference) -> dict[str, Any]:
    return {
        "model": told.model,
        "table": told.table or None,
        "member": told.member or None,
        "before": told.before,
        "after": told.after,
    }


def _beside_json(told: ProjectDataDifference) -> dict[str, Any]:
    return {
        "kind": told.kind.value,
        "place": told.place,
        "before": told.before,
        "after": told.after,
        "who": told.who or None,
        "when": moment(told.when_ms) if told.when_ms else None,
    }


def _status(status: Status | None) -> str | None:
    return status.value if status else None


def _tree_lines(told: list[TreeDifference]) -> Iterator[str]:
    for version, of_version in groupby(told, key=lambda each: each.version):
        listed = list(of_version)
        whole = [each for each in listed if not each.path and each.kind in {TreeKind.ADDED, TreeKind.REMOVED}]
        inner = [each for each in listed if each not in whole]
        for each in whole:
            yield f"    {_sign(each)} {each.words()}"
        if version and not whole:
            yield f"    ~ version {version}"
        indent = "      " if version else "    "
        for each in inner:
            yield f"{indent}{_sign(each)} {each.words()}"


def _sign(told: TreeDifference | ProjectDataDifference | ModelDifference) -> str:
    return "+" if told.is_gain else "-" if told.is_loss else "~"


def _ends(block: BlockDifference) -> tuple[str, str]:
    return block.schema, block.entity


def _folded(blocks: Iterable[BlockDifference]) -> Iterator[list[BlockDifference]]:
    """Put blocks of versions that follow each other together where the same differs in all of them."""
    alike: list[BlockDifference] = []
    for block in blocks:
        if alike and _told(alike[0]) != _told(block):
            yield alike
            alike = []
        alike.append(block)
    if alike:
        yield alike


def _told(block: BlockDifference) -> tuple[object, ...]:
    return _sign_of(block), tuple(_facts(block)), _pairs(block), block.entity_version


def _pairs(block: BlockDifference) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    return (block.gained, block.lost) if block.previous else (block.added, block.removed)


def _sign_of(block: BlockDifference) -> str:
    return "+" if block.before is None else "-" if block.after is None else "~"


def _block_lines(alike: list[BlockDifference]) -> Iterator[str]:
    first, last = alike[0], alike[-1]
    facts = ", ".join(_facts(first))
    versions = f"version {first.version}" if first is last else f"versions {first.version} to {last.version}"
    each = " in each" if facts and first is not last else ""
    yield f"    {_sign_of(first)} {versions} → version {first.entity_version}{': ' if facts else ''}{facts}{each}"
    added, removed = _pairs(first)
    for source, target in removed:
        yield f"      - {source} → {target}"
    for source, target in added:
        yield f"      + {source} → {target}"


def _facts(block: BlockDifference) -> Iterator[str]:
    """Describe what is to be known of a block beside its elements."""
    if block.moved_from:
        yield f"in place of version {block.moved_from}"
    if block.previous:
        yield _against_previous(block)
    elif block.before is None:
        yield f"new, {number_of(len(block.added), 'element')}"
    elif block.after is None:
        yield f"gone, {number_of(len(block.removed), 'element')}"
    elif block.kept and (block.added or block.removed):
        yield f"{number_of(block.kept, 'element')} kept"
    was, is_ = block.status_before, block.status_after
    if is_ is not was and is_ is not None and (was is not None or is_ is not Status.CONFIRMED):
        yield f"{is_.value} (was {was.value})" if was else is_.value
    if is_ is was and block.unconfirmed_after != block.unconfirmed_before:
        yield "not confirmed before its review" if block.unconfirmed_after else "confirmed before its review"
    if block.waiting_after != block.waiting_before:
        earlier = f" (was {block.waiting_before})" if block.waiting_before else ""
        yield f"{number_of(block.waiting_after, 'decision')} open{earlier}"


def _against_previous(block: BlockDifference) -> str:
    count = number_of(len(block.added), "element")
    if not (block.gained or block.lost):
        return f"the same as the version before, {count}"
    words = "other" if block.gained and block.lost else "larger" if block.gained else "smaller"
    return f"{words} than version {block.previous}, {count}"
