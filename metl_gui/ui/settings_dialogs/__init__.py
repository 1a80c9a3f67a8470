"""Dialogs for settings: of schemas and entities, of the project, of connections.

For connections, in order: ``connection_fields``, ``connection_rows``, ``profile_form``, ``profiles_dialog``. Of ``ui``
it may import ``jobs``, ``project``, ``theming`` and ``widgets``.
"""
