"""Canonical messages as rows of histories, in Parquet parts that a warehouse takes up.

Lowest first: ``columns`` (attributes in the types of histories), ``log_places`` and ``rows`` (what a part says of each
message), then ``sink`` (messages as they are mapped), ``payloads`` and ``messages`` (messages that exist). Runs on
executors. May import ``engine.kernel``, ``engine.sinks`` and ``formats``.
"""
