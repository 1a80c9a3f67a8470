"""Runs in batches: a folder that fills is read batch after batch, and each is in place whole or not at all.

What a batch reads is planned (``planner``) and written down in the ledger (``ledger``), mapped where it is read
(``batch_source``, ``batch_loop``), and put in place under one record (``batch_records``), by the run's ``strategy``.
Everything that a run needs to go on after a kill lies in its checkpoint folder (``checkpoint``). May import all of the
engine but ``lanes``, ``loading`` and ``execution``.
"""
