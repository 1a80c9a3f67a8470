"""The use cases, complete without a screen: open, edit, import, map, review, search, run, export.

`metl` and the window are two ways to call what stands here. May import `engine`, `registry`, `store`, `formats`, `core`
and `errors`, and `stack` in `live` alone; never Qt, and pyspark only ever comes in through a running engine.

How to read it: `session.Workbench` is one opened project. Every package is one group of use cases; most of their
functions take that session (or, where nothing is written, a document), names as people write them, and a
`core.progress.Watch` for long work. They return frozen values whose `as_json()` is the document of
docs/reference/json.md. What the user's world gets wrong is raised as a `UserError`; then nothing was written.

Order of the packages, lowest first: `history`, `profiles`, `review`; `importing`; `publishing`, `samples`; `links`,
`exports`, `model`, `runs`; `comparison`, `lanes`, `mapping`; `demo`.
"""
