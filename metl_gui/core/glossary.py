"""The words of the program, each with what it means: one source for the window's Help and the documentation.

Source: dmm.md §2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Word:
    """A word and what it means, in one sentence without a full stop."""

    word: str
    means: str


WORDS = (
    Word("extraction tree", "what comes in: schemas, their versions, the attributes of each version"),
    Word(
        "CDM tree",
        "what is wanted: the canonical data model of business entities, their versions and attributes",
    ),
    Word("attribute", "a leaf of a schema with its dotted path; a list or a map counts as one leaf"),
    Word("lineage", "one attribute through all versions of its schema or entity"),
    Word("version", "one set of attributes; known by its fingerprint, called by its label"),
    Word(
        "fingerprint",
        "what a version is known by: paths, types and which attributes may be missing; their order and their "
        "documentation do not count",
    ),
    Word("key", "the attributes that identify a row"),
    Word(
        "group", "schemas or entities whose names begin alike, shown together; a way of looking, no part of the trees"
    ),
    Word(
        "matrix",
        "the table of all extraction attributes against all CDM attributes; it is never built, only its blocks are",
    ),
    Word("element", "one 1: the value of this attribute goes to that one"),
    Word(
        "block",
        "the elements between one schema version and one entity version; without any, a null block",
    ),
    Word("version super-block", "the blocks of all versions of one schema against one entity version"),
    Word("dense set", "all elements by block: what the program works on"),
    Word(
        "compact set",
        "per schema and entity only the blocks that differ from the version before: what is stored",
    ),
    Word("column set", "all blocks of one schema version: everything that one message can become"),
    Word("row set", "all blocks of one entity version: everything that feeds it"),
    Word("verdict", "what became of a block in a new version: same, smaller, emptied or first"),
    Word("review", "a person's decision about what a new version lost"),
    Word("state", "the number of a committed change; undoing one makes a new state"),
    Word("published state", "a state that a person has chosen for production; exports and production use no other"),
    Word("version task", "a version that messages show and nobody has added yet, with the records that wait for it"),
    Word("ghost column", "where an attribute stood that a waiting block has lost; a picture, no part of the matrix"),
    Word("set aside", "a record that could not be mapped, kept whole with the reason"),
)
"""Every word, in the order in which they build on each other."""


def meaning(word: str) -> str | None:
    """Return what a word means, ``None`` for one that is not in the glossary."""
    return next((entry.means for entry in WORDS if entry.word == word), None)
