"""Databases that hold a warehouse: ``target`` says what loads need of one, the others are DuckDB and PostgreSQL.

``expression_check`` asks DuckDB whether row expressions can be computed.
"""
