"""Kafka: addresses, clients, what topics hold, reading and writing. Runs in the driver and on executors.

``servers`` < ``clients`` < ``offsets`` < ``consumer`` < ``inspection`` read; ``outgoing`` < ``topics`` write;
``records`` makes messages records of the kernel. May import ``engine.kernel`` and ``formats``; knows nothing of Spark.
"""
