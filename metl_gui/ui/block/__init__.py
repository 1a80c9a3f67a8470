"""The block editor: one block as two lists with lines, and its versions as small multiples.

Order: ``lines`` < ``attribute_rows`` < ``attribute_list`` < ``two_lists``; ``sketch`` < ``version_strip``; ``panel``
joins them. ``sketch`` is also what the Review page shows of a block.
May import: the rooms below ``ui``; of ``ui`` ``trees``, ``widgets``, ``project``, ``theming``, ``matrix.input`` and
``matrix.painting``.
"""
