"""One run from its start to its report: the client of the Spark process, and the run inside the host.

``client`` knows neither pyspark nor Qt; ``preconditions`` refuses what can be refused before Spark starts.
``bounded_run`` runs in the host, with the folders of ``work_folders``; ``submitted_run`` in a job that somebody else
submitted. May import all of the engine but ``lanes`` and ``loading``.
"""
