"""Fast lanes: their state and orders, offset resets, initial loads.

``control`` finds lanes and gives them orders; ``offset_reset`` and ``initial_load`` build on it. Clients of Spark,
Kafka and PostgreSQL that only loads need are imported by ``load_methods``, which is imported when a load is planned.
May import what the workbench may, and of the workbench ``profiles`` and ``runs``.
"""
