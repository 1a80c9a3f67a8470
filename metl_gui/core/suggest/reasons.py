"""Why a pair is suggested, in words that a person can check at a glance."""

from __future__ import annotations

from metl_gui.core.suggest.evidence import Evidence
from metl_gui.core.suggest.names import NameToken, differences

_ALIKE_DOC = 0.75
_ALIKE_VALUES = 0.5
_MOST_PARTS = 3


def reason(
    evidence: Evidence,
    at: tuple[int, int],
    names: tuple[tuple[NameToken, ...], tuple[NameToken, ...]],
    type_: str,
    *,
    is_left_over: bool = False,
) -> str:
    """Describe what speaks for a pair, the strongest first, and what speaks against it last.

    Args:
        evidence: of all pairs.
        at: position of the pair.
        names: the words of both names.
        type_: the type of the source as people read it.
        is_left_over: it is there by elimination.
    """
    parts = _confirmed(int(evidence.versions[at]), int(evidence.schemas[at]))
    parts.append(name_reason(float(evidence.names[at]), *names))
    if evidence.values[at] >= _ALIKE_VALUES:
        shared = evidence.value_words.get(at, "")
        parts.append(f"alike values ({shared})" if shared else "alike values")
    if evidence.docs[at] >= _ALIKE_DOC:
        parts.append("alike descriptions")
    if evidence.both_keys[at]:
        parts.append("both are keys")
    if not evidence.types_fit[at]:
        parts = [*parts[: _MOST_PARTS - 1], "type differs"]
    elif len(parts) < _MOST_PARTS and evidence.names[at] < 1:
        parts.append(f"type {type_} fits")
    if is_left_over:
        parts = ["left over on both sides", *parts]
    return ", ".join(part for part in parts[:_MOST_PARTS] if part)


def name_reason(score: float, one: tuple[NameToken, ...], other: tuple[NameToken, ...]) -> str:
    """Describe how two names are alike."""
    if score >= 1:
        return "same name"
    written = [sorted(word.written for word in name) for name in (one, other)]
    if written[0] == written[1] and written[0]:
        return "same words, other order"
    pairs = differences(one, other)
    if pairs:
        return ", ".join(f"{ours} = {theirs}" for ours, theirs in pairs[:2])
    shared = [word.written for word in one if word.written in written[1]]
    if shared and max(word.weight for word in one if word.written in shared) > 0:
        return f"both say {' '.join(dict.fromkeys(shared))}"
    return f"names {round(100 * score)} % alike" if score else ""


def _confirmed(versions: int, schemas: int) -> list[str]:
    parts = []
    if versions:
        parts.append(f"confirmed for {versions} other version{'s' if versions != 1 else ''}")
    if schemas:
        parts.append(f"confirmed for {schemas} other schema{'s' if schemas != 1 else ''}")
    return parts
