"""The kernel: batches of raw records in; messages, fates and reasons out.

Runs on executors, so it imports nothing of ours but ``core``, ``formats`` and ``errors``. ``records`` is what goes in,
``plan`` what it maps by, ``outcomes`` what comes out and how that grows. ``reference`` is the readable kernel: the
specification of any faster one (``compiled``), and what maps when there is none. ``mapping.kernel`` is what every
kernel is called by.
"""
