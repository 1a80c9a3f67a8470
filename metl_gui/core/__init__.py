"""The domain: trees, lineages, blocks, the dynamic mapping matrix and every change to it.

Frozen values and pure functions only. Packages import only those before them: ``trees``, ``matrix``, ``project``, then
``differences``, ``search``, ``suggest`` and ``changes``, then ``review``, ``edits``, ``merge``. May import: ``errors``,
the standard library, numpy, immutables and msgspec, and lazily scipy and rapidfuzz where things are matched. Nothing
here opens a file, starts a process or knows a screen.
"""
