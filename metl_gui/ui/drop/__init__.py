"""Files dropped on the window or pasted: what they are, a dry run of them, and imports that were interrupted."""
