"""Versions read off messages: change records, schema change events, rows without a schema.

``connect_json`` reads message files, ``unknown_versions`` what runs set aside; both by ``change_records`` and
``schema_inference``. May import ``registry``'s own modules, ``formats`` and ``core``.
"""
