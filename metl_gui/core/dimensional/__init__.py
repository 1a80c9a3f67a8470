"""The warehouse: what follows from declarations, and which rows follow from the messages of entities.

Lowest first: ``histories`` (the columns in which messages are kept), ``messages`` (one message of a history),
``row_states`` (the states of one source row), ``members`` (the states of one business key); of declarations,
``checks`` and ``proposals``, both on ``entity_facts``; ``staged_parts`` and ``load_report`` are what goes into a load
and what comes of it. What is declared is ``core.warehouse_model``: the document holds it, and this package knows
documents. Values and pure functions; databases are the room ``warehouse``.
"""
