"""Targets of a warehouse model: the statements that derive its tables, and the databases that run them.

Lowest first: ``statements`` (steps of a plan), ``history_tables``, ``state_plan`` (states of source rows),
``member_plan`` (versions of business keys), ``dimension_plan``, ``fact_plan``, ``load_plan`` (all of them in order);
then databases and loads.
"""
