"""Questions to trees and matrix: filters, search for nodes, where something comes from and goes, gaps, checks.

``query`` is what a filter box understands, ``filters`` what passes it, ``checks`` every problem of a document with its
code (``gaps`` among them). May import ``core.trees``, ``core.matrix`` and ``core.project``.
"""
