"""Spark sessions by target: on this computer, on a cluster, on a Spark Connect server."""
