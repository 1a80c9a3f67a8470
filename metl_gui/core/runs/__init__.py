"""Runs as values: what is asked of them, what they tell while they go on, their reports, and records of theirs.

Their tags and members are what stands in run folders, projects and topics. ``records``, ``lanes``. Knows none of the
other packages of ``core``.
"""
