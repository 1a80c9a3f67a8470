"""Suggestions on screen: ghosts in the matrix and the block editor, and a panel to take or refuse them.

``panel`` shows what ``suggestions`` holds for the selection, as ``rows``, and ``project_list``, which shows what
``project_suggestions`` holds for all of the project; ``acceptance_dialog`` shows what accepting many of these would do.
Of ``ui`` it may import ``map``, ``matrix``, ``preview`` and what these may.
"""
