"""Why records were set aside, in words for people who know the business and not the program."""

from __future__ import annotations

_WORDS = {
    "malformed": "This cannot be read: it is no proper JSON.",
    "unknown_schema": "No schema of the project has this name.",
    "unknown_version": "No version of its schema fits this message.",
    "ambiguous_version": "Several versions of its schema fit, and they would map it differently.",
    "block_needs_review": "It waits for a decision: a block that it needs is under review.",
    "type_mismatch": "A value does not fit the type that the canonical model has for it.",
    "undecodable": "Its bytes cannot be decoded with the schemas that the project has.",
    "no_key": "It deletes a row, and nothing in it says which.",
    "too_large": "It is larger than the limit; only its beginning is kept.",
}
_KINDS = {"block_needs_review": "review", "unknown_version": "review", "unknown_schema": "review"}


def reason_words(reason: str) -> str:
    """Say what a reason means; one that nobody foresaw stands for itself."""
    return _WORDS.get(reason, reason.replace("_", " ").capitalize() + ".")


def reason_kind(reason: str) -> str:
    """Return the kind of a reason's pill: a person must decide, or something is broken."""
    return _KINDS.get(reason, "bad")
