"""Files and folders to versions: which format a file has, and which reader takes it.

``format_detection`` looks into a file, ``sources`` hands it to its reader. May import ``registry.sql``, ``schemas`` and
``messages``, ``registry``'s own modules, ``formats`` and ``core``.
"""
