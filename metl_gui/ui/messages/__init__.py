"""A record beside the messages that it became, with what belongs together in both.

Order: ``json_layout`` | ``set_aside`` < ``pairs`` < ``view`` < ``panel``.
May import: the rooms below ``ui``; of ``ui`` ``widgets``, ``jobs``, ``project`` and ``theming``.
"""
