"""Spark as the engine meets it: Java, workers, errors of tasks, cancellation, what travels to executors."""
