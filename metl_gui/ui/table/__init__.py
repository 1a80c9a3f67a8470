"""The table twin of the matrix: every element as a row of a list. Qt and core values.

In order: ``rows``, ``view``, ``panel``. Of ``ui`` it may import ``trees`` and what that may.
"""
