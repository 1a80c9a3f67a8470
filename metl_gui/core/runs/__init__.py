"""Runs as values: what is asked of them, what they tell while they go on, their reports, and the records they keep.

``kafka`` and ``target`` are addresses, ``report`` and ``lanes`` what is counted; ``events`` has what happens, with
both. ``records`` are those that people look at. What stands in run folders, projects and topics is written in the words
of these structs, so their tags and members stay. Knows no other package of ``core``.
"""
