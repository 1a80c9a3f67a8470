"""Mapping messages: the kernel compiled from the matrix, and everything that runs it on Spark and Kafka.

May import ``formats``, ``core``, ``own_files`` and ``errors``, and is the only room that knows pyspark and Kafka. The
Spark session lives in a process of its own (``host``); the rest of the program talks to it through
``execution.client``, which is plain Python. What runs on executors is ``kernel``, the readers of ``sources`` and the
writers of ``sinks`` and ``staging``, led by ``tasks`` and ``lanes``. Packages import only those before them:
``kernel``, ``mapping``, ``spark``, ``kafka``, ``lanes.coordination``, ``runs``, ``sinks`` and ``sources``,
``staging``, ``checks``, ``tasks``, ``sessions``, ``loading``, ``lanes`` and ``streaming``, ``execution``.
"""
