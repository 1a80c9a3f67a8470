"""Three-way merge of documents: what one side changed since the base is taken, conflicts are told.

A conflict is what both changed differently. The result is built on ours, by names and lineages, because ids of two
projects say nothing about each other. The rules of the matrix hold in it, and nothing goes without a word: an element
that either side changed is in the result, or in a conflict, or the other side removed it. May import ``core.trees``,
``matrix``, ``project``, ``changes``, ``differences`` and ``edits``.
Source: docs/guide/teams.md, "Compare and merge"; docs/architecture/model.md, "Rules that always hold".
"""
