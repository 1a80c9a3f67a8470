"""Generators of data that nobody here made up, each a script that an environment of its own runs."""
