"""Warehouse models: brought in, written out, changed, proposed and checked.

May import what the workbench may; of the workbench nothing but its session and results.
"""
