"""Real schemas replayed version by version into a project, as somebody would have met them who mapped everything.

The canonical model of a history has one entity for each schema, with one attribute for each path over all versions.
Every attribute of the first version is mapped to the one of its name, new ones as they appear; nobody decides anything,
so that what is asked adds up. What each version must have is worked out beside it by copying names from version to
version: the simplest thing that could be right.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block, BlockKey, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.reader_result import ReaderResult
from metl_gui.core.review.items import review_items
from metl_gui.core.review.rename_proposals import best_proposals
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side, Version
from metl_gui.registry.files import sources
from metl_gui.workbench.importing.schema_import import add_reading
from metl_gui.workbench.session import Workbench
from tests.helpers.shared import ROOT

DATASETS = ("wikimedia-secondary", "iglu-central")


@dataclass(frozen=True, slots=True)
class LostPath:
    """A mapped attribute that a version has no more, and what was proposed first in its place."""

    schema: str
    version: str
    path: str
    proposed: str


@dataclass(slots=True)
class Replay:
    """What a replay met.

    Args:
        versions: how many were added.
        asked: review items at the end.
        shrunk: blocks that lost a mapped element against the version before.
        retyped: other blocks with an incompatible type change of a mapped attribute.
        silent: elements that went without an open loss in an item: block and path.
        lost: the mapped attributes that went, in order.
        seconds: of every import of one version.
    """

    versions: int = 0
    asked: int = 0
    shrunk: int = 0
    retyped: int = 0
    silent: list[tuple[BlockKey, str]] = field(default_factory=list)
    lost: list[LostPath] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def histories(dataset: str) -> dict[str, list[VersionDeclaration]]:
    """Read the versions of every schema of a data set, oldest first."""
    found: dict[str, list[VersionDeclaration]] = defaultdict(list)
    for declaration in sources.read([ROOT / "real-schemas" / dataset]).declarations:
        found[declaration.name].append(declaration)
    return found


def entity_of(name: str, versions: Iterable[VersionDeclaration]) -> VersionDeclaration:
    """Declare the entity of a schema: one attribute for each path over all versions."""
    types = {a.path: a for version in reversed(list(versions)) for a in reversed(version.attributes)}
    return VersionDeclaration(name, tuple(AttributeDeclaration(path, a.type) for path, a in types.items()), "1")


def mapping_of_new(document: Document, version: Version, entity_version: Version) -> SetElements | None:
    """Map what no earlier version had, in a first version everything, to the attributes of the same names."""
    is_first = document.extraction.previous(version) is None
    new = version.attributes if is_first else document.extraction.new_attributes(version)
    targets = {a.path: a.id for a in entity_version.attributes}
    ones = tuple(Element(targets[a.path], a.id) for a in new)
    return SetElements((version.id, entity_version.id), ones) if ones else None


def replay(dataset: str, file: Path) -> Replay:
    """Replay a data set into a new project file.

    Raises:
        AssertionError: some version is not mapped as the naive copy says.
    """
    found = Replay()
    with Workbench.create(file) as workbench:
        for name, declarations in histories(dataset).items():
            workbench.do(AddVersion(Side.CDM, entity_of(name, declarations)))
            _replay_schema(workbench, declarations, found)
        document = workbench.document
        found.asked = len(review_items(document))
        found.silent += _not_asked(document)
    return found


def _replay_schema(workbench: Workbench, declarations: list[VersionDeclaration], found: Replay) -> None:
    naive: set[str] = set()
    seen: set[str] = set()
    gone: set[str] = set()
    for declaration in declarations:
        begun = time.perf_counter()
        result = add_reading(workbench, Side.EXTRACTION, ReaderResult((declaration,)))
        if not result.added:
            continue
        found.seconds.append(time.perf_counter() - begun)
        found.versions += 1
        version, entity_version = _newest(workbench.document, declaration.name)
        paths = {a.path for a in version.attributes}
        lost = naive - paths
        naive, gone = (naive & paths) | (paths - seen), gone | lost
        _note(workbench.document, version, entity_version, lost, gone, found)
        seen |= paths
        edit = mapping_of_new(workbench.document, version, entity_version)
        if edit is not None:
            workbench.do(edit)
        mapped = _mapped_paths(workbench.document, version, entity_version)
        assert mapped == naive, f"{declaration.name} {version.label}: {sorted(mapped ^ naive)}"


def _note(
    document: Document, version: Version, entity_version: Version, lost: set[str], gone: set[str], found: Replay
) -> None:
    block = document.matrix.block(version.id, entity_version.id)
    is_open = {loss.from_path for loss in block.open_losses} if block else set()
    key = version.id, entity_version.id
    found.silent += [(key, path) for path in sorted(gone - is_open)]
    if block is None:
        return
    found.shrunk += bool(lost)
    found.retyped += version.id in block.waits and not lost
    name = document.extraction.schema(version.schema_id).name
    first = {loss.from_path: p.candidate for loss, p in best_proposals(document, block).items()}
    found.lost += [LostPath(name, version.label, path, first.get(path, "")) for path in sorted(lost)]


def _not_asked(document: Document) -> list[tuple[BlockKey, str]]:
    """List the open losses that are in no review item."""
    asked: Counter[tuple[BlockKey, tuple[int, int, int]]] = Counter()
    for item in review_items(document):
        asked.update((key, loss.chain) for key in (item.key, *item.chain) for loss in item.losses)
    blocks = (block for block in document.matrix.blocks() if block.open_losses)
    return [(b.key, x.from_path) for b in blocks for x in b.open_losses if not asked[b.key, x.chain]]


def _newest(document: Document, name: str) -> tuple[Version, Version]:
    schema, entity = document.extraction.named(name), document.cdm.named(name)
    newest = document.extraction.newest(schema.id) if schema else None
    target = document.cdm.newest(entity.id) if entity else None
    assert newest is not None
    assert target is not None
    return newest, target


def _mapped_paths(document: Document, version: Version, entity_version: Version) -> set[str]:
    block = document.matrix.block(version.id, entity_version.id) or Block(version.id, entity_version.id)
    columns, rows = ({a.id: a.path for a in side.attributes} for side in (version, entity_version))
    assert all(columns[p] == rows[q] for q, p in block.elements)
    return {columns[p] for _, p in block.elements}
