"""Schema documents to versions: JSON Schema, Avro, and the entries of registries.

``json_schema_nodes`` < ``json_schema`` and ``connect_json_schema``; ``avro`` reads Avro files, and what registries hold
(``registry_entries``) of every kind. May import ``registry``'s own modules, ``formats`` and ``core``.
"""
