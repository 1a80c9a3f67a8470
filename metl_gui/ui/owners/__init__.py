"""What owners need beside mapping: the CDM editor, lineage correction, gaps, comments, masks."""
