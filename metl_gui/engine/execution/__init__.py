"""One run from its start to its report: the client of the Spark process, and the run inside the host.

``client`` knows neither pyspark nor Qt; ``preconditions`` refuses what can be refused before Spark starts. ``driver``
is how any run goes, by a strategy: ``once`` here, with the folders of ``work_folders``, or those of ``streaming`` and
``lanes``. ``submitted_run`` is a run in a job that somebody else submitted. May import all of the engine but ``lanes``
and ``loading``.
"""
