"""The suggestions of one block: all candidates ranked, and the best 1:1 set among them.

The score of a candidate is a probability: of those scored 0.9, nine of ten are right. It follows from how strong the
evidence is, from how much stronger it is than that of the best rival on either side, and from whether the pair belongs
to the best 1:1 set. ``tests/benchmarks/suggest.py`` measures it on pairs that it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metl_gui.core.matrix.blocks import Block, BlockKey, Element, Status
from metl_gui.core.matrix.document import Document
from metl_gui.core.project.refusals import NONE_REFUSED, RefusedSuggestions
from metl_gui.core.suggest.evidence import LEAST_LISTED, LEAST_STRENGTH, Evidence, Flags, confirmed_elsewhere, weigh
from metl_gui.core.suggest.names import Scores, read_names
from metl_gui.core.suggest.reasons import reason
from metl_gui.core.suggest.values import ValueEvidence
from metl_gui.core.trees.nodes import Attribute
from metl_gui.values import Value

MOST_FOR_ONE = 8
"""Candidates of one source attribute that are listed."""

_AT_ZERO, _BY_STRENGTH, _BY_LEAD, _IN_BEST_SET = -5.2, 6.0, 8.9, 2.3
"""Fitted to pairs of half of the gold mapping's vendors, names perturbed and a part of the targets taken away."""

_LEAST, _MOST, _MOST_WHERE_TYPES_DIFFER = 0.01, 0.99, 0.88

_MOST_LEFT = 5
_MATCHED_FOR_ONE_LEFT = 2
_SHARE_OF_CHANCE = 0.5


class Candidate(Value):
    """An element that a block may want.

    Args:
        element: the pair of attributes.
        score: how likely it is right, 0 to 1.
        reason: why, in words.
        is_best: whether it belongs to the best 1:1 set of the block.
    """

    element: Element
    score: float
    reason: str
    is_best: bool


def suggest_block(
    document: Document,
    key: BlockKey,
    refusals: RefusedSuggestions = NONE_REFUSED,
    values: Mapping[Element, ValueEvidence] | None = None,
) -> tuple[Candidate, ...]:
    """Rank what a block may want beside what it has: free rows and columns only.

    Nothing that is refused or never to be mapped is among them, nor anything of a block that was retired.

    Args:
        document: the state.
        key: (v, w).
        refusals: what people said is not so.
        values: how much alike the values of two attributes are, where samples of both are at hand.

    Order: best score first, then target and source in their own order.
    """
    version, entity_version = document.extraction.version(key[0]), document.cdm.version(key[1])
    block = document.matrix.block(*key) or Block(*key)
    taken_p, taken_q = {e.p for e in block.elements}, {e.q for e in block.elements}
    no_p = document.extraction.schema(version.schema_id).ignored_lineages
    no_q = document.cdm.schema(entity_version.schema_id).ignored_lineages
    sources = [a for a in version.attributes if a.id not in taken_p and a.lineage not in no_p]
    targets = [a for a in entity_version.attributes if a.id not in taken_q and a.lineage not in no_q]
    if not sources or not targets or block.status is Status.RETIRED:
        return ()
    found = weigh(version, entity_version, (sources, targets), confirmed_elsewhere(document, key), values)
    allowed = np.ones(found.strength.shape, np.bool_)
    for row, column in refusals.pairs(version.schema_id, sources, entity_version.schema_id, targets):
        allowed[row, column] = False
    return _ranked(found, _scored(found, allowed, len(block.elements)), (sources, targets))


def probabilities(strength: Scores) -> tuple[Scores, Flags]:
    """Turn strengths of evidence into scores.

    Shape: both float32 and bool of (sources, targets): the scores, and which pairs make the best 1:1 set.
    """
    best = best_set(strength)
    lead = strength - np.maximum(_rivals(strength), _rivals(strength.T).T)
    logit = _AT_ZERO + _BY_STRENGTH * strength + _BY_LEAD * lead + _IN_BEST_SET * best
    scores = 1 / (1 + np.exp(-logit))
    # Two that are equally strong cannot both be likely, and weak evidence stays weak where nothing rivals it.
    scores = np.minimum(scores, np.clip(0.5 + 5 * lead, 0.05, _MOST))
    scores = np.minimum(scores, np.minimum(0.25 + strength, _MOST))
    scores = np.where(strength >= LEAST_LISTED, np.maximum(scores, _LEAST), 0)
    return scores.astype(np.float32), best


def best_set(strength: Scores) -> Flags:
    """Choose the pairs that are strongest together, each row and each column at most once."""
    from scipy.optimize import linear_sum_assignment

    chosen = np.zeros(strength.shape, np.bool_)
    useful = np.where(strength >= LEAST_STRENGTH, strength, 0)
    rows, columns = linear_sum_assignment(useful, maximize=True)
    chosen[rows, columns] = True
    return chosen & (useful > 0)


def _rivals(strength: Scores) -> Scores:
    """For each pair the strongest other pair of its row."""
    if strength.shape[1] < 2:
        return np.zeros_like(strength)
    two = np.partition(strength, -2, axis=1)[:, -2:]
    is_first = strength == two[:, 1:]
    return np.where(is_first, two[:, :1], two[:, 1:])


class _Scored(Value):
    """All pairs with their scores.

    Shape: all of (sources, targets). ``scores`` are rounded, 0 for what is not listed; ``rank`` orders pairs and tells
    apart what is scored alike; ``left_over`` marks those that are there by elimination only.
    """

    scores: Scores
    best: Flags
    rank: Scores
    left_over: Flags


def _scored(found: Evidence, allowed: Flags, mapped: int) -> _Scored:
    """Score all pairs: by evidence, and by elimination where little is left."""
    strength = np.where(allowed, found.strength, 0).astype(np.float32)
    likely, best = probabilities(strength)
    by_elimination, rest = _left_over(found, best, allowed, mapped)
    likely = np.where(found.types_fit, likely, np.minimum(likely, _MOST_WHERE_TYPES_DIFFER))
    scores = np.asarray(np.round(np.maximum(likely, by_elimination), 3), np.float32)
    best = best | rest
    rank = np.asarray(scores + 4e-4 * best + 1e-4 * strength, np.float32)
    return _Scored(scores, best, rank, by_elimination > likely)


def _ranked(found: Evidence, scored: _Scored, ends: tuple[list[Attribute], list[Attribute]]) -> tuple[Candidate, ...]:
    order = np.argsort(-scored.rank, axis=1, kind="stable")[:, :MOST_FOR_ONE]
    rows, places = np.nonzero(np.take_along_axis(scored.scores, order, axis=1) > 0)
    columns = order[rows, places]
    listed = np.lexsort((rows, columns, -scored.rank[rows, columns]))
    ours, theirs = read_names([a.path for a in ends[0]], [a.path for a in ends[1]])
    candidates = []
    for r, c in zip(rows[listed].tolist(), columns[listed].tolist(), strict=True):
        source, target = ends[0][r], ends[1][c]
        words = reason(found, (r, c), (ours[r], theirs[c]), source.type_text, is_left_over=bool(scored.left_over[r, c]))
        score = round(float(scored.scores[r, c]), 3)
        candidates.append(Candidate(Element(target.id, source.id), score, words, bool(scored.best[r, c])))
    return tuple(candidates)


def _left_over(evidence: Evidence, best: Flags, allowed: Flags, mapped: int) -> tuple[Scores, Flags]:
    """Score pairs by elimination: what is left on both sides when nearly everything else has found its like.

    No name speaks for such a pair, so its score is low: half of what chance says for the few that are left.

    Shape: float32 and bool of (sources, targets): the scores, 0 where there is no case for it, and the likeliest 1:1
    set among them.

    Args:
        evidence: of all pairs.
        best: the pairs that have found each other by evidence.
        allowed: pairs that nobody refused.
        mapped: how many pairs are mapped already.
    """
    scores, chosen = np.zeros(best.shape, np.float32), np.zeros(best.shape, np.bool_)
    rows, columns = np.flatnonzero(~best.any(axis=1)), np.flatnonzero(~best.any(axis=0))
    left = max(len(rows), len(columns))
    if not len(rows) or not len(columns) or left > _MOST_LEFT or best.sum() + mapped < _MATCHED_FOR_ONE_LEFT * left:
        return scores, chosen
    from scipy.optimize import linear_sum_assignment

    part = np.ix_(rows, columns)
    is_open = evidence.types_fit[part] & allowed[part]
    weak = np.where(is_open, 0.1 + evidence.names[part] + evidence.docs[part] + 0.05 * evidence.both_keys[part], 0)
    scores[part] = np.where(is_open, _SHARE_OF_CHANCE / left * (0.5 + 0.5 * weak / weak.max()), 0) if weak.max() else 0
    ours, theirs = linear_sum_assignment(weak, maximize=True)
    taken = weak[ours, theirs] > 0
    chosen[rows[ours[taken]], columns[theirs[taken]]] = True
    return scores, chosen
