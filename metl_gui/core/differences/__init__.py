"""What differs between two documents: trees, blocks, and which parts need to be looked at.

``changed_parts`` finds what may differ (by ``tree_alignment``, as columns), ``tree_difference`` and
``block_difference`` say what does, ``document_difference`` puts all together. May import ``core.trees``,
``core.matrix`` and ``core.project``.
"""
