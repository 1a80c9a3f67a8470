"""The domain: trees, lineages, blocks, the dynamic mapping matrix and every change to it.

Frozen values and pure functions only. May import: the standard library, numpy, immutables, and scipy where the
matching of the partition (A2) needs it. Nothing here opens a file, starts a process or knows a screen.
"""
