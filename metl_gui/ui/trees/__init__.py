"""The two trees: thin adapters over the frozen trees, what is shown of a node, and the search box.

In order: ``node``, ``contents``, ``model``, ``chosen_rows``, ``view``, ``panel``. Of ``ui`` it may import ``jobs``,
``project``, ``theming`` and ``widgets``.
"""
