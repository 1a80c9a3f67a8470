"""The command palette, search everywhere and the glossary: whatever makes sense now, found by a few letters.

``search_hits`` and ``search_box`` rate names as ``dialog`` does. Of ``ui`` it may import ``context`` and
what that may, ``theming`` and ``widgets``.
"""
