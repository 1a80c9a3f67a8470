"""What owners need beside mapping: the CDM editor, lineage correction, gaps, comments, masks.

The dialogs stand alone; ``docks`` puts the panels on the Map page; ``commands`` opens both. Of ``ui`` it may import
``context``, ``map``, ``matrix`` and what these may.
"""
