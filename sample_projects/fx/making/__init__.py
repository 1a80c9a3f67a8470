"""What makes the sample: the tables and their history, the workload, the capture, the mapping, the files."""
