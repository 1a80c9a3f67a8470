"""Versions read off messages: change records, schema change events, rows without a schema."""
