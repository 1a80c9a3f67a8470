"""Connection profiles: kinds, settings, secrets, and tests of the way to a server."""
