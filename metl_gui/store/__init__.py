"""The project file: trees, compact set, block records, edit log, runs and the editing lease in one SQLite file.

May import: ``core`` and ``errors``, the standard library, numpy, msgspec for JSON, and sqlite-utils where a file is
made or migrated (lazily: it loads pandas when that is there). SQLite is used nowhere else in the program.
"""
