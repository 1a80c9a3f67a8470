"""What a task does on an executor, and what can be read of its results."""
