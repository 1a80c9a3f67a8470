"""How often suggestions are right on the gold mapping of real schemas, beside equal names and beside Valentine.

(a) the entity is given; (b) all tables are one canonical model and the entity is not given, with the names of schemas
and tables and without them; (c) the entity is given and names are spelled as another team might have, with a heavy
hand and with a light one, after which the best baseline leaves hardly the points that are asked for; (d) the list over
a whole project, all real schemas and all tables, how soon it is there and how much memory it takes; (e) how many of the
sure suggestions are wrong once every second schema is mapped, as what is mapped teaches where others belong.
Valentine's matchers see what suggestions see: names and types, no values (``JaccardDistanceMatcher`` and
``DistributionBased`` compare values only, so there is nothing for them here; ``Cupid`` needs word lists of nltk and is
left out without them). Each is asked with and without a 1:1 filter; the best of them is the baseline.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
import tracemalloc
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from metl_gui.core.changes.draft import perform
from metl_gui.core.edits.composite import CompositeEdit
from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Element
from metl_gui.core.suggest.block import suggest_block
from metl_gui.core.suggest.blocks import suggest_blocks
from metl_gui.core.suggest.entities import EntityIndex
from metl_gui.core.suggest.words import USUAL, letters, usual
from tests.benchmarks.gold import Table, document_of, is_there, perturbed, tables, versions_of
from tests.benchmarks.harness import Case, figure, quartiles, single
from tests.benchmarks.perturbed_names import SEED, SYNONYMS
from tests.helpers.real_project import build_real_project

if TYPE_CHECKING:
    from valentine.algorithms import BaseMatcher

POINTS = 0.10
"""How far (c) must stand above both baselines."""

MOST_WRONG, MOST_MISSED = 0.10, 0.03
"""Precision@1 of 0.90 and recall@5 of 0.97, as shares that are wrong."""

_ENTITIES = 5
_MOST_FLOODED = 12
"""Similarity flooding takes minutes for one table of ninety columns, so it is compared on small tables only."""

_TAKEN_AWAY = 0.3
_SURE = 0.9
_MOST_SECONDS, _MOST_MIB = 2.0, 300.0
"""Of the list over a whole project."""

Ranked = dict[str, list[str]]
"""Columns by attribute path, best first."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """Something that ranks the columns of one table for the attributes of one schema.

    Args:
        name: what it is called.
        rank: the ranking.
        most: attributes of the largest schema that it gets through in a sensible time, ``None`` for any.
    """

    name: str
    rank: Callable[[Table], Ranked]
    most: int | None = None


def cases(rounds: int, quick: bool) -> Iterator[Case]:
    """Measure precision, calibration and time; nothing without the shared data."""
    if not is_there():
        yield figure("the gold mapping", 0, unit="pairs", note="../shared is not there, so nothing can be measured")
        return
    plain, other = tables(), perturbed()
    yield from _given("(a) entity given", plain, 0.0, quick)
    yield from _everywhere("(b) entity not given, 120 tables", plain, has_names=True, has_target=True)
    yield from _everywhere("(b) the same, schemas and tables without names", plain, has_names=False, has_target=False)
    known = sum(usual(word)[0] == usual(synonym)[0] for word, synonym in SYNONYMS.items())
    note = f"{known} of the {len(SYNONYMS)} synonyms are among the {len(USUAL)} spellings that suggestions know"
    yield from _given("(c) names perturbed heavily", perturbed(is_heavy=True), POINTS, quick, note)
    yield from _given("(c) names perturbed lightly", other, POINTS, quick)
    yield from _everywhere("(c) names perturbed lightly, entity not given", other, has_names=True, has_target=False)
    yield from _calibration(other)
    yield from _times(plain, rounds)
    yield from _whole_project(rounds)
    yield from _taught("(e) wrong among the sure, every second schema mapped", plain, has_names=True)
    yield from _taught("(e) the same, schemas and tables without names", plain, has_names=False)
    yield from _taught("(e) the same, names perturbed lightly", other, has_names=True)


def precision(asked: Sequence[Table], rank: Callable[[Table], Ranked], at: int = 1) -> float:
    """Share of the gold pairs whose column is among the first ``at`` of its attribute."""
    right = count = 0
    for table in asked:
        ranked = rank(table)
        for path, column in table.pairs.items():
            count += 1
            right += column in ranked.get(path, [])[:at]
    return right / count


def ours(table: Table) -> Ranked:
    """Rank by suggestions."""
    document = document_of([table])
    version, entity_version = versions_of(document, 0)
    sources, targets = ({a.id: a.path for a in side.attributes} for side in (version, entity_version))
    ranked: Ranked = defaultdict(list)
    for candidate in suggest_block(document, (version.id, entity_version.id)):
        ranked[sources[candidate.element.p]].append(targets[candidate.element.q])
    return ranked


def by_equal_names(table: Table) -> Ranked:
    """Rank by names that are equal in lower case without punctuation."""
    columns: dict[str, list[str]] = defaultdict(list)
    for target in table.targets:
        columns[letters(target.path)].append(target.path)
    return {source.path: columns.get(letters(source.path), []) for source in table.sources}


def valentine_matchers() -> Iterator[Matcher]:
    """List the matchers of Valentine that need no values, as far as they run on this computer."""
    try:
        import nltk
        from valentine.algorithms import Coma, Cupid, SimilarityFlooding
    except ImportError:
        return
    algorithms: list[tuple[BaseMatcher, int | None]] = [(Coma(use_instances=False), None)]
    with contextlib.suppress(LookupError):
        nltk.data.find("corpora/wordnet")  # it would ask the network for what is not on this computer
        algorithms.append((Cupid(), None))
    algorithms.append((SimilarityFlooding(), _MOST_FLOODED))
    for algorithm, most in algorithms:
        name = type(algorithm).__name__
        yield Matcher(name, partial(_valentine, algorithm=algorithm, one_to_one=False), most)
        yield Matcher(f"{name} 1:1", partial(_valentine, algorithm=algorithm, one_to_one=True), most)


def _valentine(table: Table, algorithm: BaseMatcher, one_to_one: bool) -> Ranked:
    import pandas as pd
    from valentine import valentine_match

    frames = [pd.DataFrame(columns=[a.path for a in side]) for side in (table.sources, table.targets)]
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        found = valentine_match(frames, algorithm, df_names=["source", "target"])
    found = found.one_to_one_hungarian() if one_to_one else found
    ranked: Ranked = defaultdict(list)
    for pair, _score in sorted(found.items(), key=lambda item: -item[1]):
        ranked[pair.source_column].append(pair.target_column)
    return ranked


def _asked(found: Sequence[Table]) -> list[Table]:
    return [table for table in found if table.is_asked]


def _given(name: str, found: Sequence[Table], points: float | None, quick: bool, note: str = "") -> Iterator[Case]:
    asked = _asked(found)
    mine = precision(asked, ours)
    equal = precision(asked, by_equal_names)
    yield _above(f"{name}: precision@1, equal names beside", mine, equal, points, note)
    for each in valentine_matchers():
        if quick and each.most is not None:
            continue
        share = [table for table in asked if each.most is None or len(table.sources) <= each.most]
        of = f"{len(share)} of {len(asked)} tables" if len(share) < len(asked) else ""
        best = mine if not of else precision(share, ours)
        yield _above(f"{name}: precision@1, Valentine's {each.name}", best, precision(share, each.rank), points, of)


def _above(name: str, mine: float, baseline: float, points: float | None, note: str) -> Case:
    """Compare two precisions; the target is a number of points above the baseline."""
    if not baseline:
        return Case(name, mine, None, "precision@1", note=f"the baseline finds nothing; {note}")
    ratio = mine / baseline
    target = None if points is None else (baseline + points) / baseline
    asked = "" if points is None else f", {points * 100:.0f} points above asked" if points else ", not worse asked"
    pairs = f"{mine - baseline:+.3f}{asked}{'; ' if note else ''}{note}"
    return Case(name, mine, baseline, "precision@1", target, ratio, ratio, ratio, pairs)


def _everywhere(name: str, found: Sequence[Table], has_names: bool, has_target: bool) -> Iterator[Case]:
    document = document_of(found, has_names)
    index = EntityIndex(document)
    ranks: list[int] = []
    for at, table in enumerate(found):
        if not table.is_asked:
            continue
        version, right = versions_of(document, at)
        sources = {a.path: a.id for a in version.attributes}
        columns = {a.path: a.id for a in right.attributes}
        listed: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for rank in index.rank(document, version, _ENTITIES):
            for candidate in suggest_block(document, (version.id, rank.entity_version)):
                listed[candidate.element.p].append((-candidate.score * rank.score, candidate.element.q))
        for path, column in table.pairs.items():
            ordered = [q for _, q in sorted(listed[sources[path]], key=lambda each: each[0])]
            ranks.append(ordered.index(columns[column]) if columns[column] in ordered else len(ordered) + _ENTITIES)
    wrong, missed = sum(rank > 0 for rank in ranks) / len(ranks), sum(rank >= 5 for rank in ranks) / len(ranks)
    targets = (MOST_WRONG, MOST_MISSED) if has_target else (None, None)
    note = f"{len(ranks)} pairs"
    yield figure(
        f"{name}: wrong at rank 1", wrong, unit="share", target=targets[0], note=f"p@1 {1 - wrong:.3f}, {note}"
    )
    yield figure(
        f"{name}: not in 5", missed, unit="share", target=targets[1], note=f"recall@5 {1 - missed:.3f}, {note}"
    )


def _calibration(found: Sequence[Table]) -> Iterator[Case]:
    """Tell how often suggestions of a score are right, where three of ten targets were taken away.

    Only vendors are asked that the scores were not fitted to.
    """
    scores: list[float] = []
    right: list[bool] = []
    for table in (_with_holes(table) for table in _asked(found) if zlib.crc32(table.name[0].encode()) % 2):
        document = document_of([table])
        version, entity_version = versions_of(document, 0)
        sources, targets = ({a.id: a.path for a in side.attributes} for side in (version, entity_version))
        for each in suggest_block(document, (version.id, entity_version.id)):
            scores.append(each.score)
            right.append(table.pairs.get(sources[each.element.p]) == targets[each.element.q])
    said, true = np.array(scores), np.array(right)
    for low, high in ((0.3, 0.6), (0.6, 0.8), (0.8, 0.95), (0.95, 1.01)):
        chosen = (said >= low) & (said < high)
        note = f"{chosen.sum()} suggestions, {said[chosen].mean():.2f} on average" if chosen.any() else "none"
        share = float(true[chosen].mean()) if chosen.any() else 0.0
        yield figure(f"right of those scored {low:.2f} to {min(high, 1.0):.2f}", share, unit="share", note=note)


def _with_holes(table: Table) -> Table:
    rng = Random(f"{SEED} holes {table.name}")
    kept = tuple(target for target in table.targets if rng.random() >= _TAKEN_AWAY) or table.targets
    paths = {target.path for target in kept}
    return replace(table, targets=kept, pairs={p: c for p, c in table.pairs.items() if c in paths})


def _times(found: Sequence[Table], rounds: int) -> Iterator[Case]:
    document = document_of(found)
    sizes = sorted(range(len(found)), key=lambda at: len(found[at].sources))
    for name, at in (("median", sizes[len(sizes) // 2]), ("largest", sizes[-1])):
        version, entity_version = versions_of(document, at)
        key = version.id, entity_version.id
        suggest_block(document, key)
        yield single(
            f"suggestions of the {name} block",
            partial(suggest_block, document, key),
            unit="ms",
            per=1e3,
            rounds=rounds,
            note=f"{len(version.attributes)} x {len(entity_version.attributes)}",
        )
    yield single("index of all entities", lambda: EntityIndex(document), unit="ms", per=1e3, rounds=rounds)
    index = EntityIndex(document)
    times = []
    for at in range(len(found)):
        start = time.perf_counter()
        index.rank(document, versions_of(document, at)[0])
        times.append((time.perf_counter() - start) * 1e3)
    low, high = quartiles(times)
    yield Case("entities of one schema", float(np.median(times)), None, "ms", low=low, high=high, note="of 120")


def _taught(name: str, found: Sequence[Table], has_names: bool) -> Iterator[Case]:
    """Map every second schema by hand, and see whether that leads the suggestions of the others astray."""
    document = document_of(found, has_names)
    blocks = {}
    for at, table in enumerate(found):
        version, right = versions_of(document, at)
        sources, columns = ({a.path: a.id for a in side.attributes} for side in (version, right))
        pairs = ((columns[column], sources[path]) for path, column in table.pairs.items())
        blocks[version.id, right.id] = frozenset(Element(q, p) for q, p in pairs)
    mapped = tuple(SetElements(key, tuple(sorted(blocks[key]))) for key in sorted(blocks)[::2])
    asked = {key[0] for key in sorted(blocks)[1::2]}
    taught = perform(document, CompositeEdit("Map every second", mapped)).after
    sure = [each for each in suggest_blocks(taught) if each.is_best and each.score >= _SURE and each.key[0] in asked]
    wrong = sum(each.element not in blocks.get(each.key, ()) for each in sure)
    share = wrong / max(len(sure), 1)
    yield figure(name, share, unit="share", target=MOST_WRONG, note=f"{len(sure)} suggestions in other schemas")


def _whole_project(rounds: int) -> Iterator[Case]:
    with (
        tempfile.TemporaryDirectory() as folder,
        build_real_project(Path(folder) / "real.metl", is_mapped=False) as workbench,
    ):
        document = workbench.document
    tracemalloc.start()
    listed = suggest_blocks(document)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    size = f"{len(list(document.extraction.schemas()))} schemas, {len(list(document.cdm.schemas()))} tables"
    note = f"{size}: {len(listed)} suggestions in {len({each.key for each in listed})} blocks"
    work = partial(suggest_blocks, document)
    yield single("(d) list over a whole project", work, unit="s", per=1, rounds=rounds, target=_MOST_SECONDS, note=note)
    yield figure("(d) memory at the peak of it", peak, unit="MiB", target=_MOST_MIB, note="beside the document")
