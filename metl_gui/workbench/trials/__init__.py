"""Trials of profiles, one file for each kind: what is tried in which order, and how it is told.

Imports what knows the kind (``engine`` for Spark and Kafka, ``registry`` for registries and databases).
"""
