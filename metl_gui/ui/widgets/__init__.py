"""Generic widgets, models and delegates, which know nothing of mapping; ``edit_preview`` alone knows edits.

Of ``ui`` it may import ``jobs``, ``project`` and ``theming``.
"""
