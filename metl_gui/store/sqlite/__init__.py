"""Connections to SQLite: transactions, failures in people's words, and cancellation of queries.

The lowest package of the store: ``cancellation`` < ``failures`` < ``connection``. May import ``errors``.
"""
