"""Which entities a schema may feed: an index over the words and letters of all entities, then a closer look at a few.

The index holds for each entity (its newest version) how much each feature tells: usual words, whole names and runs of
three letters, each rarer one more (TF-IDF). A schema version is looked up by one product of a sparse matrix, so the
cost of a look-up grows with what the entities share with it, not with all pairs of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from metl_gui.core.matrix.document import Document
from metl_gui.core.suggest.block import best_set
from metl_gui.core.suggest.evidence import TYPE_DIFFERS, types_fit_of
from metl_gui.core.suggest.feeds import Feeds
from metl_gui.core.suggest.names import alike_each
from metl_gui.core.suggest.words import letters, parted, segments, usual
from metl_gui.core.trees.nodes import Attribute, Version
from metl_gui.values import Value

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LOOKED_AT = 12
"""Entities of which the names are compared one by one, after the index has chosen them."""

_WORD_WEIGHT, _WHOLE_WEIGHT, _LETTERS_WEIGHT = 1.0, 1.0, 0.35
_NAME_SHARE = 0.3
_AT_ZERO, _BY_STRENGTH, _BY_LEAD = -3.6, 3.5, 13.4
_MOST = 0.95
"""Fitted to the gold mapping, names perturbed, half of the time with the right entity taken away."""

_IS_FED = 2.0
_NEAR = 0.3
"""Entities are looked at closely whose place in the index is at least this share of the best one's."""

_ALIKE = 0.6


class EntityRank(Value):
    """An entity that a schema version may feed.

    Args:
        entity_version: id of its newest version.
        score: how likely the schema feeds it, 0 to 1; 1 where another version of the schema does.
        alike: how many attributes of the schema have their like in it.
        is_fed: whether some version of the schema feeds it already.
    """

    entity_version: int
    score: float
    alike: int
    is_fed: bool = False


class EntityIndex:
    """The entities of one document, to be asked for many schema versions.

    Args:
        document: the state; the index serves it and every later one with the same CDM tree.
    """

    def __init__(self, document: Document) -> None:
        tree = document.cdm
        newest = (tree.newest(entity.id) for entity in tree.schemas())
        self.versions: tuple[Version, ...] = tuple(v for v in newest if v is not None and v.attributes)
        names = [tree.schema(version.schema_id).name for version in self.versions]
        self._vocabulary = frozenset(
            word
            for version in self.versions
            for a in version.attributes
            for part in segments(a.path)
            for word in part
            if len(word) > 1
        )
        self._forms: dict[str, tuple[str, ...]] = {}
        attributes = [[a.path for a in version.attributes] for version in self.versions]
        self._attributes = _Features([Counter(self._features(paths)) for paths in attributes])
        self._names = _Features([Counter(self._features([name])) for name in names])

    def rank(
        self, document: Document, version: Version, limit: int = 5, feeds: Feeds | None = None
    ) -> tuple[EntityRank, ...]:
        """Rank the entities that a schema version may feed, the likeliest first.

        Entities that some version of the schema feeds come first whatever their names, and all of them, be they more
        than ``limit``. One that other schemas feed by names that this version has is likely, too.

        Args:
            document: the state.
            version: of a schema.
            limit: so many are returned at most, but for those that are fed.
            feeds: what other schemas give the entities, ``None`` to collect it.
        """
        if not self.versions or not version.attributes:
            return ()
        name = document.extraction.schema(version.schema_id).name
        paths = [a.path for a in version.attributes]
        by_attributes = self._attributes.alike(Counter(self._features(paths)))
        by_name = self._names.alike(Counter(self._features([name])))
        fed = self._fed(document, version)
        coarse = by_attributes + _NAME_SHARE * by_name
        taught = (feeds or Feeds.of(document)).shares(version)
        learned = np.array([taught.get(each.schema_id, 0.0) for each in self.versions])
        limit = max(limit, int(fed.sum()))
        count = max(LOOKED_AT, limit)
        looked_at = np.argsort(-(coarse + _IS_FED * np.maximum(fed, learned)), kind="stable")[:count]
        is_known, is_near = fed | (learned > 0), coarse > max(0.0, _NEAR * coarse.max())
        looked_at = looked_at[(is_known | is_near)[looked_at]]
        shares = self._compared(version.attributes, looked_at.tolist())
        strength = np.array([share for share, _ in shares], np.float64) * (1 - _NAME_SHARE)
        strength = strength + _NAME_SHARE * by_name[looked_at]
        likely = np.maximum(_scores(strength, _rivals(strength)), _learned_scores(strength, learned[looked_at]))
        scores = np.where(fed[looked_at], 1.0, likely)
        order = np.lexsort((np.arange(len(looked_at)), -strength, -scores))[:limit]
        return tuple(
            EntityRank(self.versions[looked_at[at]].id, float(scores[at]), shares[at][1], bool(fed[looked_at[at]]))
            for at in order
        )

    def _fed(self, document: Document, version: Version) -> NDArray[np.bool_]:
        ids = document.extraction.schema(version.schema_id).version_ids
        blocks = (block for v in ids for block in document.matrix.column_set(v) if block.elements)
        entities = {document.cdm.version(block.entity_version).schema_id for block in blocks}
        return np.array([each.schema_id in entities for each in self.versions], np.bool_)

    def _compared(self, sources: Sequence[Attribute], places: Sequence[int]) -> list[tuple[float, int]]:
        """Compare all attributes of a schema version with those of each of some entities, 1:1."""
        sides = [self.versions[at].attributes for at in places]
        names = alike_each([a.path for a in sources], [[a.path for a in targets] for targets in sides])
        ends = np.cumsum([len(targets) for targets in sides])[:-1]
        fits = np.split(types_fit_of(sources, [a for targets in sides for a in targets]), ends, axis=1) if sides else []
        found = []
        for one, fit in zip(names, fits, strict=True):
            strength = np.where(fit, one, one * TYPE_DIFFERS)
            best = strength[best_set(strength)]
            found.append((float(2 * best.sum() / sum(strength.shape)), int((best >= _ALIKE).sum())))
        return found

    def _features(self, names: Iterable[str]) -> Iterator[str]:
        for name in names:
            whole = letters(name)
            yield f"={whole}"
            yield from (f"~{whole[at : at + 3]}" for at in range(len(whole) - 2))
            for part in segments(name):
                for text in part:
                    yield from self._forms_of(text)

    def _forms_of(self, text: str) -> tuple[str, ...]:
        """Return the usual forms of a word, or of those that it is made of; most words come again in other schemas."""
        found = self._forms.get(text)
        if found is None:
            found = tuple(form for word in parted(text, self._vocabulary) for form in usual(word))
            self._forms[text] = found
        return found


class _Features:
    """A sparse matrix of documents by features, rows of length one."""

    def __init__(self, documents: list[Counter[str]]) -> None:
        from scipy.sparse import csr_matrix

        self._at: dict[str, int] = {}
        for document in documents:
            for feature in document:
                self._at.setdefault(feature, len(self._at))
        counts = np.zeros(len(self._at), np.float64)
        for document in documents:
            counts[[self._at[feature] for feature in document]] += 1
        self._tells = np.log1p(len(documents) / np.maximum(counts, 1))
        rows = [row for row, document in enumerate(documents) for _ in document]
        columns = [self._at[feature] for document in documents for feature in document]
        weights = np.concatenate([self._weights(document)[1] for document in documents] or [np.zeros(0)])
        matrix: csr_matrix[Any] = csr_matrix((weights, (rows, columns)), shape=(len(documents), len(self._at)))
        self._matrix = matrix

    def alike(self, document: Counter[str]) -> NDArray[np.float64]:
        """Return the cosine with every document."""
        columns, weights = self._weights(document)
        query = np.zeros(len(self._at))
        query[columns] = weights
        return np.asarray(self._matrix @ query)

    def _weights(self, document: Counter[str]) -> tuple[list[int], NDArray[np.float64]]:
        known = [(self._at[feature], feature, count) for feature, count in document.items() if feature in self._at]
        kinds = {"=": _WHOLE_WEIGHT, "~": _LETTERS_WEIGHT}
        weights = np.array(
            [kinds.get(feature[0], _WORD_WEIGHT) * np.log1p(count) * self._tells[at] for at, feature, count in known]
        )
        unknown = len(document) - len(known)
        length = np.sqrt(np.sum(weights**2) + unknown * _LETTERS_WEIGHT**2)
        return [at for at, _, _ in known], weights / max(length, 1e-9)


def _rivals(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each entity the strongest other one."""
    if not len(strength):
        return strength
    order = np.sort(strength)[::-1]
    best, second = float(order[0]), float(order[1]) if len(order) > 1 else 0.0
    return np.where(strength == best, second, best)


def _scores(strength: NDArray[np.float64], rivals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn strengths into how likely each is right, by its own size and by its lead over the best other."""
    logit = _AT_ZERO + _BY_STRENGTH * strength + _BY_LEAD * (strength - rivals)
    return np.asarray(np.minimum(1 / (1 + np.exp(-logit)), _MOST))


def _learned_scores(strength: NDArray[np.float64], learned: NDArray[np.float64]) -> NDArray[np.float64]:
    """Score entities by what other schemas give them: one may feed several of these, but rather one that is more alike.

    Shape: all of (entities,); 0 where nothing is learned.
    """
    rival = float(strength[learned == 0].max(initial=0.0))
    scores = _scores(learned * (1 - _NAME_SHARE), np.full(len(learned), rival))
    return np.where(learned > 0, scores, 0.0)
