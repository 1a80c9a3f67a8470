"""Sample messages: kept in the cache, matched to versions, previewed; and the records that runs kept.

In order: ``cache``, ``preview`` and ``run_records``, ``kept_samples``, ``project_samples``. May import what the
workbench may, and of the workbench ``importing``.
"""
