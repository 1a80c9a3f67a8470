"""Bytes and text of others: Avro, JSON, record delimiting, compression. Pure values, below registry, store and engine.

May import core; travels to executors with it.
"""
