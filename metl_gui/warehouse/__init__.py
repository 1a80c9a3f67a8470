"""Targets of a warehouse model: how their tables follow from messages, and loads that bring them up to date.

Lowest first: ``plans`` (statements), ``databases`` (what runs them), then what is done with a target: ``loader``,
``audit``, ``status`` and ``key_history``.
"""
