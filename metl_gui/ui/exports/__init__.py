"""The export dialog, over all formats of the workbench.

``dialog`` builds on ``form``. Of ``ui`` it may import ``jobs``, ``project``, ``theming`` and ``widgets``.
"""
