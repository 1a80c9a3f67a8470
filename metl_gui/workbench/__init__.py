"""The use cases, complete without a screen: open, edit, import, map, review, search, run, export.

`metl` and the window are two ways to call what stands here. May import `engine`, `registry`, `store`, `core` and
`errors`; never Qt, and pyspark only ever comes in through a running engine.

How to read this room: `session.Workbench` is one opened project. Every other module is one use case made of functions
that take that session (or, where nothing is written, a document), names as people write them, and a `progress.Watch`
for long work; they return frozen values whose `as_json()` is the document of contract.md §1. What the user's world
gets wrong is raised as a `UserError`; then nothing was written.
"""
