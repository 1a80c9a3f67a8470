"""Mapping messages: the kernel compiled from the matrix, and everything that runs it on Spark.

May import ``core`` and ``errors``, and is the only room that knows pyspark. What runs on executors is ``kernel``, the
readers of ``sources`` and the writers of ``sinks``. The Spark session lives in a process of its own (``host``); the
rest of the program talks to it through ``client``, which is plain Python.
"""
