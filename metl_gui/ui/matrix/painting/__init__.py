"""Painters of the plane, of its overlay and of its overview map.

Order: ``raster`` | ``text_layout`` | ``shapes`` < ``paint_context`` < ``axis_gaps`` | ``version_changes`` < ``cells`` |
``count_tiles`` < ``plane`` | ``difference``; ``overlay`` stands alone.
May import: ``core``, ``ui.project``, ``ui.theming`` and ``ui.matrix.layout``.
"""
