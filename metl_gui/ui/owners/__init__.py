"""What owners need beside mapping: the CDM editor, lineage correction, gaps, comments, masks.

The dialogs stand alone; ``docks`` puts the panels on the Map page. Of ``ui`` it may import ``map``, ``matrix`` and what
these may.
"""
