"""Real servers for the demo and the tests: PostgreSQL, Kafka, Connect, a registry and Spark, each as a process.

All are a ``component.Component``; ``guard`` ends them when this program is gone, ``jars`` fetches what they need. May
import ``engine``, ``core``, ``packaged``, ``own_files`` and ``errors``. Only ``workbench.live`` knows this room, and
imports it where it is needed.
"""
