"""The window: it makes pages and controllers, joins them, and says in its action table what the menus do.

``window`` makes the context and the other parts, which know it as a type alone; ``action_rows`` has the table of
actions. The last package of ``ui``: it may import all others, and ``main`` alone imports it.
"""
