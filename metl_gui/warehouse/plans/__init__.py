"""Statements that derive the tables of a model from histories, in the dialect of any database.

Lowest first: ``dialects``, ``statements`` (steps of a plan), ``history_tables``, ``conversions``, ``table_shapes`` (a
model over histories) and ``shape_maker``, ``arrivals`` (what a batch brings), ``state_plan`` (states of source rows),
``member_plan`` (times of business keys), ``write_plan`` (what differs), ``dimension_tables``, ``surrogate_keys``,
``inferred_plan`` and ``dimension_plan``, ``missed_plan`` and ``fact_plan``, ``bridge_shapes`` and ``bridge_plan``,
``hierarchy_plan``, ``periodic_plan``, ``calendar_plan``, ``snapshot_plan``, ``index_plan``;
``load_plan`` is all of them in order.
"""
