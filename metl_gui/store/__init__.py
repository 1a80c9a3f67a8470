"""The project file: trees, compact set, block records, edit log, runs and the editing lease in one SQLite file.

May import: ``core``, ``formats``, ``own_files`` and ``errors``, the standard library, numpy, msgspec for JSON, and
sqlite-utils where a file is made or migrated (lazily: it loads pandas when that is there). SQLite is used nowhere else
in the program. ``sqlite`` and ``rows`` stand below ``repositories``, these below the file itself (``project_file``).
"""
