"""The block matrix: plane, headers, legend and overview map as one view, with its gestures.

Order: ``layout`` computes what stands where, ``painting`` and ``labels`` draw it, ``input`` says what points, keys and
selections mean; then ``scene`` (the panes), ``plane_view`` (camera and selection) and ``view``, which the controllers
of mouse, keyboard and drops belong to. ``picture`` paints the same into a file.
May import: the rooms below ``ui``, ``ui.project`` and ``ui.theming``.
"""
