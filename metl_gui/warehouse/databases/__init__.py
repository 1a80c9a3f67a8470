"""Databases that hold a warehouse: ``target`` says what loads need of one, the others are DuckDB and PostgreSQL."""
