"""Bytes and text of others: Avro, JSON, record delimiting, compression.

Pure values, below registry, store and engine. May import ``core`` and ``errors``, numpy and msgspec, and lazily
pyarrow; travels to executors with ``core``.
"""
