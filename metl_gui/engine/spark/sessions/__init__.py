"""Spark sessions by target: on this computer, on a cluster, on a Spark Connect server.

``runtime`` starts the right one: ``local``, or ``cluster`` and ``connect``, with the jobs of all three in ``jobs``. May import
``engine.tasks`` and what that may import.
"""
