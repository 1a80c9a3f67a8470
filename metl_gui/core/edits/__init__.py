"""Every edit of a document: small frozen values with a title, one module a subject.

An edit reads and writes a ``Draft``; ``changes.draft.perform`` turns it into the next state. Edits name nodes by id.
May import every package of core but ``differences``, ``search`` and ``merge``.
"""
