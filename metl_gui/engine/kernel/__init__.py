"""The kernel: a batch of raw records in; messages, statuses and reasons out.

Runs on executors, so it imports nothing of ours but ``core`` and ``errors``. ``reference`` is the readable kernel and
the oracle of any faster one; ``forms`` is its fast lane for records that look like one mapped before.
"""
