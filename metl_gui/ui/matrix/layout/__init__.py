"""Layout of the plane: axes, content, index of blocks, counts, densities and the camera; no painting.

Order: ``tree_columns`` < ``spans`` < ``placement`` < ``ghost_lines`` < ``axis`` < ``block_index`` < ``elements`` <
``tile_counts`` < ``tile_reviews`` | ``density`` < ``content`` < ``sort_and_filter`` | ``camera``. What stands below
``content`` knows ``Content`` as a type only.
May import: ``core``, ``ui.project`` and, for its scale, ``ui.theming``.
"""
