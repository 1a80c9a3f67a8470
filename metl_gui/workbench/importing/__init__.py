"""Schemas and versions into the project, from files, topics, registries, databases and version tasks."""
