"""Files and folders to versions: which format a file has, and which reader takes it."""
