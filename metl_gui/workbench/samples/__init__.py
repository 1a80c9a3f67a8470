"""Sample messages: kept in the cache, matched to versions, previewed.

In order: ``cache`` and ``preview``, ``kept_samples``, ``project_samples``. May import what the workbench may, and of
the workbench ``importing``.
"""
