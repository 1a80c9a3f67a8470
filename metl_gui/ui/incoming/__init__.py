"""Files that somebody drops on the window or pastes: read in a job, shown on a sheet, applied by its buttons only."""
