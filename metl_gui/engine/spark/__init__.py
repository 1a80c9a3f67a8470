"""Spark as the engine meets it: Java, workers, errors of tasks, cancellation, what travels to executors.

The modules here start no session; those that do are ``engine.sessions``, above ``engine.tasks``. May import
``engine.kernel`` and ``errors``.
"""
