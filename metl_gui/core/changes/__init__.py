"""What changes a document: drafts, the automated update, chains of losses, lineages, effects.

``draft`` notes what an edit replaces and gives the transition; ``chains``, ``update``, ``effects``, ``rewind`` and
``touched_groups`` build on it, ``lineages`` on ``chains`` and ``update``. May import ``core.trees`` and
``core.matrix``.
"""
