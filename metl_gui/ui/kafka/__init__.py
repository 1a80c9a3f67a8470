"""Topics in the window: choosing what is read and where messages go, and showing topics before they are made.

Order: ``servers_box`` (which servers) < ``source_dialog`` | ``sink_dialog``.
May import: the rooms below ``ui``; of ``ui`` ``widgets``, ``jobs``, ``project`` and ``theming``.
"""
