"""Other loaders, each a script that an environment of its own runs; see ``tests.comparisons.late_change``."""
