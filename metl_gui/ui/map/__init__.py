"""The Map page, on which mapping is done: both trees, the matrix, the block editor.

Order: ``scoped_edits`` | ``planes`` | ``conflict`` < ``mapper`` < ``clipboard``; ``scope_dialog``, ``navigation``,
``tree_collapse`` and ``descriptions`` stand apart; ``page`` joins them.
May import: the rooms below ``ui``; of ``ui`` ``block``, ``matrix``, ``trees``, ``widgets``, ``jobs``, ``project`` and
``theming``.
"""
