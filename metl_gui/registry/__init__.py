"""Schemas in: one reader per format, each turning files into version declarations or a reason why not.

May import ``formats``, ``core`` and ``errors``, no other room. Readers order what they find; what is new, the same or
in conflict with the project is decided where the project is known. The modules here are what all packages use
(``documents``, ``addresses``), then come ``sql``, ``schemas``, ``messages`` and ``tables``, above
them ``files`` and ``remote``.
"""
