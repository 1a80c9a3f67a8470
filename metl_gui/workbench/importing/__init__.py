"""Schemas and versions into the project, from files, topics, registries, databases and version tasks.

In order: ``remote_sources`` reads, ``source_names`` follows names that changed, ``schema_import`` adds versions; on
these build ``source_watch``, ``version_tasks`` and ``dry_run``. May import what the workbench may, and of the workbench
``profiles`` and ``review``.
"""
