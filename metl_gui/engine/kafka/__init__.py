"""Kafka: clients, what topics hold, reading and writing. Runs in the driver and on executors.

``clients`` < ``offsets`` < ``consumer`` < ``inspection`` read; ``topic_messages`` < ``topics`` write; ``topic_orders``
is what tasks are told of both. ``records`` makes messages records of the kernel. May import ``engine.kernel`` and
``formats``; knows nothing of Spark.
"""
