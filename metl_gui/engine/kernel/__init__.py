"""The kernel: batches of raw records in; messages, fates and reasons out.

Runs on executors, so it imports nothing of ours but ``core`` and ``errors``. ``kernel`` is the door that every kernel
shares, ``records`` what goes in, ``plan`` what it maps by, ``outcomes`` what comes out and ``gathering`` how that
grows. ``reference`` is the readable kernel: the specification of any faster one, and what maps when there is none.
"""
