"""The preview beside the block editor: one sample message, and what becomes of it by what is on the screen.

In order: ``samples``, ``text``, ``panel``, ``controller``. Of ``ui`` it may import ``map``, ``messages``, ``trees`` and
what these may.
"""
