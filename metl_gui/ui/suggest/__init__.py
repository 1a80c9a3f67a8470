"""Suggestions on screen: ghosts in the matrix and the block editor, and a panel to take or refuse them."""
