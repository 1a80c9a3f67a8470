"""Spark as the engine meets it: Java, workers, errors of tasks, cancellation, what travels to executors.

The modules here start no session; those stand in ``sessions``, above ``engine.tasks``. May import ``engine.kernel`` and
``errors``.
"""
