"""Runs as values: what is asked of them, what they tell while they go on, their reports, and the records they keep.

``kafka`` and ``target`` are addresses, ``run_spec`` what is asked with them. ``report`` and ``lanes`` are what is
counted, ``events`` what happens, ``records`` those that people look at. What stands in run folders, projects and topics
is written in the words of these structs, so their tags and members stay. Knows no other package of ``core``.
"""
