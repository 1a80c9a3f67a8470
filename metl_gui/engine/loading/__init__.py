"""Initial load: all existing rows of chosen tables, once, through the matrix that a lane maps its changes with.

``staged_rows`` reads them by Spark, in a process of its own, into a topic: as records (``row_template``), with values
as Debezium writes them (``debezium_values``). May import what stands before it in the engine, up to ``sessions``.
"""
