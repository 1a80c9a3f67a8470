"""The canonical data model and its lineages for owners: entities, lineages, comments, and the effects of edits.

``edit_effects`` says what an edit does to blocks; ``entities`` and ``lineages`` report with it. May import what the
workbench may, and of the workbench ``history`` and ``review``.
"""
