"""Connections to SQLite: transactions, failures in people's words, and cancellation of queries."""
