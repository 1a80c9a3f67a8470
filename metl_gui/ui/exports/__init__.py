"""What leaves the window as files: exports in all formats of the workbench, and pictures of the matrix.

``dialog`` builds on ``form``; ``picture`` stands apart. Of ``ui`` it may import ``context`` and what that may,
``matrix``, ``theming`` and ``widgets``.
"""
