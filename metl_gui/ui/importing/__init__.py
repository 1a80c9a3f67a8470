"""Imports of the window: schemas, mapping tables, and those that were interrupted.

Of ``ui`` it may import ``context``, ``jobs``, ``project`` and ``widgets``.
"""
