"""Schemas in: one reader per format, each turning files into version declarations or a reason why not.

May import ``core`` and ``errors``, no other room. Readers order what they find; what is new, the same or in conflict
with the project is decided where the project is known.
"""
