"""Files dropped on the window or pasted: what they are, a dry run of them, and imports that were interrupted.

``controller`` joins ``sheet`` and ``dry_run`` with the window. Of ``ui`` it may import ``jobs``, ``project``,
``theming`` and ``widgets``.
"""
