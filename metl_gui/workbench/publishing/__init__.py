"""Publishing a state: its checks, what it would mean for production, and the publication."""
