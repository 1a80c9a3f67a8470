"""What mouse and keyboard mean on the plane: hit tests, gestures, cursor, and what a selection holds.

Order: ``hit_test`` < ``selected_content`` < ``gesture_preview``, and ``hit_test`` < ``cursor``; ``gestures`` stands
alone. The controllers that act on this belong to the view and stand beside it, in ``ui.matrix``.
May import: ``core``, ``ui.project``, ``ui.theming`` and the other packages of ``ui.matrix``.
"""
