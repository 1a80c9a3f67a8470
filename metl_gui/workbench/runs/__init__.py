"""Mapping runs: test and production runs, replays, their history, topics and fill rates.

In order: ``unfinished_runs``, ``mapping_run``; on it build ``production`` (runs as processes of their own), ``replay``
and ``topics``; ``history`` and ``typed_sinks`` read them all. May import what the workbench may, and of the workbench
``importing``, ``profiles``, ``publishing`` and ``samples``.
"""
