"""The kernel: batches of raw records in; messages, fates and reasons out.

Runs on executors, so it imports nothing of ours but ``core`` and ``errors``. ``kernel`` is the door that every kernel
shares, ``plan`` what it maps by, ``outcomes`` what it returns. ``reference`` is the readable kernel and the oracle of
any faster one; ``lane`` is its fast lane for records that look like one met before.
"""
