"""The domain: trees, lineages, blocks, the dynamic mapping matrix and every change to it, and what is known of runs.

Frozen values and pure functions only. Packages import only those before them: ``trees``, ``matrix``, ``project``, then
``differences``, ``search``, ``suggest`` and ``changes``, then ``review``, ``edits``, ``merge``; ``runs`` knows none of
them. May import: ``errors``, the standard library, numpy, immutables and msgspec, and lazily scipy and rapidfuzz where
things are matched. Nothing here opens a file, starts a process or knows a screen.
"""
