"""The review list: decisions, assignments, answer sheets, and how far a review is.

In order: ``progress``, ``assignments``, ``rename_refusals``, then ``decisions`` and ``answer_sheet``. May import what
the workbench may, and no other package of the workbench.
"""
