"""Spark sessions by target: on this computer, on a cluster, on a Spark Connect server.

``runtime`` starts the right one: ``local``, ``cluster`` or ``connect``; ``jobs`` has the jobs of all three.
``run_context`` is a run that goes on in one. May import ``engine.tasks`` and what that may import.
"""
