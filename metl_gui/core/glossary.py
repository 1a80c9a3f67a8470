"""The words of the program, each with what it means: one source for the window's Help and docs/glossary.md."""

from __future__ import annotations

from metl_gui.values import Value


class GlossaryTerm(Value):
    """A word and what it means, in one sentence without a full stop."""

    word: str
    means: str


WORDS = (
    GlossaryTerm("extraction tree", "what comes in: schemas, their versions, the attributes of each version"),
    GlossaryTerm(
        "CDM tree",
        "what is wanted: the canonical data model of business entities, their versions and attributes",
    ),
    GlossaryTerm("attribute", "a leaf of a schema with its dotted path; a list or a map counts as one leaf"),
    GlossaryTerm("lineage", "one attribute through all versions of its schema or entity"),
    GlossaryTerm("version", "one set of attributes; known by its fingerprint, called by its label"),
    GlossaryTerm(
        "fingerprint",
        "what a version is known by: paths, types and which attributes may be missing; their order and their "
        "documentation do not count",
    ),
    GlossaryTerm("key", "the attributes that identify a row"),
    GlossaryTerm(
        "group", "schemas or entities whose names begin alike, shown together; a way of looking, no part of the trees"
    ),
    GlossaryTerm(
        "matrix",
        "the table of all extraction attributes against all CDM attributes; it is never built, only its blocks are",
    ),
    GlossaryTerm("element", "one 1: the value of this attribute goes to that one"),
    GlossaryTerm(
        "block",
        "the elements between one schema version and one entity version; without any, a null block",
    ),
    GlossaryTerm("version super-block", "the blocks of all versions of one schema against one entity version"),
    GlossaryTerm("dense set", "all elements by block: what the program works on"),
    GlossaryTerm(
        "compact set",
        "per schema and entity only the blocks that differ from the version before: what is stored",
    ),
    GlossaryTerm("column set", "all blocks of one schema version: everything that one message can become"),
    GlossaryTerm("row set", "all blocks of one entity version: everything that feeds it"),
    GlossaryTerm("verdict", "what became of a block in a new version: same, smaller, emptied or first"),
    GlossaryTerm("review", "a person's decision about what a new version lost"),
    GlossaryTerm("state", "the number of a committed change; undoing one makes a new state"),
    GlossaryTerm(
        "published state", "a state that a person has chosen for production; exports and production use no other"
    ),
    GlossaryTerm(
        "version task", "a version that messages show and nobody has added yet, with the records that wait for it"
    ),
    GlossaryTerm(
        "ghost column", "where an attribute stood that a waiting block has lost; a picture, no part of the matrix"
    ),
    GlossaryTerm("set aside", "a record that could not be mapped, kept whole with the reason"),
)
"""The words of the mapping, in the order in which they build on each other; exports of it explain these."""

ELSEWHERE = (
    GlossaryTerm(
        "expression",
        "what makes a value of others; the matrix has none, for it says where a value goes and hands it on as it is: "
        "columns of warehouse tables have them (page Warehouse, column From or expression), over the attributes of one "
        "message",
    ),
    GlossaryTerm(
        "constant",
        "a value that no message brings; the matrix sets none: a column of a warehouse table has it as its expression, "
        "such as 'EUR'",
    ),
    GlossaryTerm(
        "default",
        "what stands for a value that is missing; the matrix fills nothing in, what is missing stays missing: a column "
        "of a warehouse table does, by an expression such as coalesce(channel, 'none')",
    ),
)
"""What people look for in the matrix and is done elsewhere."""

ALL_WORDS = (*WORDS, *ELSEWHERE)
"""Every word that the window and the documentation explain."""


def meaning(word: str) -> str | None:
    """Return what a word means, ``None`` for one that is not in the glossary."""
    return next((entry.means for entry in ALL_WORDS if entry.word == word), None)
