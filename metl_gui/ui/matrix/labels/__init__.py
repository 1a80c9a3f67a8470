"""The headers of both axes, and the legend below the plane.

May import: ``core``, ``ui.theming``, ``ui.matrix.layout`` and ``ui.matrix.painting``.
"""
