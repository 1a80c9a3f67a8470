"""Dialogs for settings: of schemas and entities, of the project, of connections."""
