"""Every edit of a document: small frozen values with a title, one file per subject.

An edit reads and writes a ``Draft``; ``changes.draft.perform`` turns it into the next state. Edits name nodes by id.
"""
