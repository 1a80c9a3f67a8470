"""Work beside the window: threads, the worker process, and timers."""
