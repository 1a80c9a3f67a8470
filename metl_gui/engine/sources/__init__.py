"""Where records come from: one reader per kind of source, files, topics and error stores.

The driver lists a ``source.Source`` and cuts it into ranges; tasks read these as ``batches``. May import
``engine.runs``, ``engine.kafka``, ``engine.kernel`` and ``formats``.
"""
