"""One run from its start to its report: the client of the Spark process, and the run inside the host."""
