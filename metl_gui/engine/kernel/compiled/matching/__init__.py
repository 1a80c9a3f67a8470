"""Messages that were written before, for the compiled kernel: of which known layout each of a batch is.

``message_match`` is the machine code that follows a message through a tree of layouts, ``layout_tree`` keeps the tree
and drives it over a batch. May import ``engine.kernel`` and the modules beside this package that machine code is made
of.
"""
