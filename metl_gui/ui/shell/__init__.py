"""The window: pages, bars, panels, the project in front, and what its menus do.

``window`` makes the other parts, which know it as a type alone. The last package of ``ui``: it may import all others.
"""
