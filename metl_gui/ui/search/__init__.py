"""Questions to the matrix on screen: reverse and forward search, version progression.

In order: ``answers``, ``answer_panel``, ``progression``, and ``docks``, which puts them and the mapping list on the Map
page. Of ``ui`` it may import ``table`` and what that may.
"""
