"""Pairs by elimination: what is left over on both sides when nearly everything else has found its like.

No name speaks for such a pair, so its score is low: half of what chance says for the few that are left.
"""

from __future__ import annotations

import numpy as np

from metl_gui.core.suggest.evidence import Evidence, Flags
from metl_gui.core.suggest.names import Scores

MOST_LEFT = 5
_MATCHED_FOR_ONE = 2
_SHARE = 0.5


def left_over(evidence: Evidence, best: Flags, allowed: Flags, mapped: int) -> tuple[Scores, Flags]:
    """Score the pairs of what is left over.

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
    if not len(rows) or not len(columns) or left > MOST_LEFT or best.sum() + mapped < _MATCHED_FOR_ONE * left:
        return scores, chosen
    from scipy.optimize import linear_sum_assignment

    part = np.ix_(rows, columns)
    is_open = evidence.types_fit[part] & allowed[part]
    weak = np.where(is_open, 0.1 + evidence.names[part] + evidence.docs[part] + 0.05 * evidence.both_keys[part], 0)
    scores[part] = np.where(is_open, _SHARE / left * (0.5 + 0.5 * weak / weak.max()), 0) if weak.max() else 0
    ours, theirs = linear_sum_assignment(weak, maximize=True)
    taken = weak[ours, theirs] > 0
    chosen[rows[ours[taken]], columns[theirs[taken]]] = True
    return scores, chosen
