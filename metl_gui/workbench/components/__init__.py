"""The programs around a mapping, started on this computer: PostgreSQL, Kafka, Connect, a registry, Spark servers.

They are the real ones, in folders of their own, on free ports, ended by their process ids and never left behind. The
live demo and the tests start the same code. What is needed to start them is looked for by ``requirements``; their jars
come through Maven, once for a user (``jars``).
"""
