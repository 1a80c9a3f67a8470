"""Suggestions on screen: ghosts in the matrix and the block editor, and a panel to take or refuse them.

``panel`` shows what ``suggestions`` holds, as ``rows``. Of ``ui`` it may import ``map``, ``matrix`` and what these may.
"""
