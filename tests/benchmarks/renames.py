"""How often the first rename proposal is right, and how many are made where nothing was renamed.

The truth of the real histories was labelled by hand (``gold_renames.csv``); that of the perturbed ones is known because
they were made. All attributes of a version are mapped, so that every path that goes is a lost element. Half of the
schemas, by a hash of their name, are for looking at while the scorer is worked on, and the other half for judging.
"""

from __future__ import annotations

import csv
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from metl_gui.core.changes.draft import Edit, perform
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.edits.versions import AddVersion
from metl_gui.core.matrix.blocks import Block, Element
from metl_gui.core.matrix.document import Document
from metl_gui.core.review.rename_proposals import best_proposals
from metl_gui.core.trees.declarations import AttributeDeclaration, VersionDeclaration
from metl_gui.core.trees.nodes import Side
from metl_gui.registry.files import sources
from tests.benchmarks.harness import Case, figure
from tests.benchmarks.perturbed_histories import KINDS, Attributes, Step, step
from tests.helpers.shared import ROOT

GOLD = Path(__file__).with_name("gold_renames.csv")
DATASETS = ("wikimedia-secondary", "iglu-central")
_LARGE = 400


def cases(_rounds: int, quick: bool) -> Iterator[Case]:
    """Measure the real histories, the perturbed ones, and the time of a large block."""
    if not (ROOT / "real-schemas").is_dir():
        yield figure("real schema histories", 0, unit="%", note="../shared is not there, so nothing can be measured")
        return
    yield from _cases_of("real histories", tally(real_steps()))
    whole: Counter[str] = Counter()
    for kind in KINDS:
        counts = tally(perturbed_steps(kind, is_for_judging=True, every=4 if quick else 1))
        whole += counts
        yield from _cases_of(f"perturbed: {kind}", counts)
    yield from _cases_of("perturbed: all", whole)
    yield figure(
        f"{_LARGE} lost, {_LARGE} new: proposals of one block", seconds(_LARGE) * 1000, unit="ms", note="one round"
    )


def tally(steps: Iterable[Step]) -> Counter[str]:
    """Count what the first proposals were: right, wrong, missed; quiet and alarm where nothing was renamed."""
    counts: Counter[str] = Counter()
    for one in steps:
        counts.update(outcome for *_, outcome in outcomes(one))
    return counts


def outcomes(one: Step) -> Iterator[tuple[str, str, str, float, str]]:
    """Yield lost path, truth, first proposal, its score and what that is."""
    document, block = block_after(one)
    best = {loss.from_path: p for loss, p in best_proposals(document, block).items()}
    for lost, truth in one.renamed.items():
        found = best.get(lost)
        said = found.candidate if found else ""
        if truth:
            outcome = "right" if said == truth else "wrong" if said else "missed"
        else:
            outcome = "alarm" if said else "quiet"
        yield lost, truth, said, found.score if found else 0.0, outcome


def block_after(one: Step) -> tuple[Document, Block]:
    """Map every attribute of the first version and add the second."""
    document = Document()
    target = tuple(replace(a, path=a.path, equivalent_to=()) for a in one.before)
    first: tuple[Edit, ...] = (
        AddVersion(Side.CDM, VersionDeclaration("entity", target, "1")),
        AddVersion(Side.EXTRACTION, VersionDeclaration("schema", one.before, "1")),
    )
    for edit in first:
        document = perform(document, edit).after
    v, w = (next(iter(document.tree(side).all_versions())) for side in (Side.EXTRACTION, Side.CDM))
    ones = tuple(Element(q.id, p.id) for q, p in zip(w.attributes, v.attributes, strict=True))
    last: tuple[Edit, ...] = (
        SetElements((v.id, w.id), ones),
        AddVersion(Side.EXTRACTION, VersionDeclaration("schema", one.after, "2")),
    )
    for edit in last:
        document = perform(document, edit).after
    key = document.extraction.versions(v.schema_id)[-1].id, w.id
    block = document.matrix.block(*key)
    assert block is not None
    return document, block


def real_steps() -> Iterator[Step]:
    """Yield the real transitions in which a path goes, with the truth of the table."""
    truth: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    with GOLD.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            truth[row["dataset"], row["schema"], row["version"]][row["lost"]] = row["renamed_to"]
    for dataset in DATASETS:
        for name, versions in histories(dataset).items():
            for before, after in pairwise(versions):
                known = truth.get((dataset, name, after.label or ""))
                if known is not None:
                    yield Step(before.attributes, after.attributes, known)


def perturbed_steps(kind: str, *, is_for_judging: bool, every: int = 1) -> Iterator[Step]:
    """Yield perturbed next versions of the newest version of every schema of some size."""
    newest = [versions[-1] for dataset in DATASETS for versions in histories(dataset).values()]
    usable = [one for one in newest if 4 <= len(one.attributes) <= 80]
    others = _others(usable)
    for at, one in enumerate(usable):
        if (zlib.crc32(one.name.encode()) % 2 == 0) is is_for_judging and at % every == 0:
            made = step(kind, one.attributes, others, one.name)
            if made is not None:
                yield made


@cache
def histories(dataset: str) -> Mapping[str, list[VersionDeclaration]]:
    """Read all versions of a data set, by schema."""
    found: dict[str, list[VersionDeclaration]] = defaultdict(list)
    for declaration in sources.read([ROOT / "real-schemas" / dataset]).declarations:
        found[declaration.name].append(declaration)
    return found


def _others(versions: Iterable[VersionDeclaration]) -> Attributes:
    by_path: dict[str, AttributeDeclaration] = {}
    for version in versions:
        by_path.update({a.path: a for a in version.attributes})
    return tuple(by_path.values())


def _cases_of(name: str, counts: Counter[str]) -> Iterator[Case]:
    made = counts["right"] + counts["wrong"] + counts["alarm"]
    renamed = counts["right"] + counts["wrong"] + counts["missed"]
    note = ", ".join(f"{counts[word]} {word}" for word in ("right", "wrong", "missed", "alarm", "quiet"))
    if made:
        yield figure(f"{name}: proposals that are right", 100 * counts["right"] / made, unit="%", note=note)
    if renamed:
        yield figure(f"{name}: renames whose first proposal is right", 100 * counts["right"] / renamed, unit="%")


def seconds(count: int) -> float:
    """Time the proposals of a block that lost so many attributes while as many came."""
    before = tuple(AttributeDeclaration(f"customer_{at}_field.part_{at % 7}", "string") for at in range(count))
    after = tuple(AttributeDeclaration(f"client_{at}_field.part_{at % 7}", "string") for at in range(count))
    truth = {a.path: b.path for a, b in zip(before, after, strict=True)}
    document, block = block_after(Step(before, after, truth))
    begin = time.perf_counter()
    best_proposals(document, block)
    return time.perf_counter() - begin
