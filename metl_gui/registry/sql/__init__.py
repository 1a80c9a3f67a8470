"""SQL files to versions: tables as statements make and change them, column types by dialect.

``files`` loads ``tables``, and sqlglot with it, only once there is something to parse. May import
``registry.messages.schema_changes``, ``registry``'s own modules and ``core``.
"""
