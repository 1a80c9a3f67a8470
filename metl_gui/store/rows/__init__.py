"""Rows and blobs of the trees, the matrix and the changes of the edit log.

``packed_rows`` < ``tree_rows`` and ``block_rows``, written by change and read whole; ``packed_changes`` are those of
the log. May import ``core``.
"""
