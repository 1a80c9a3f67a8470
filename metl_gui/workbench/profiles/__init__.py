"""Connection profiles: kinds, settings, secrets, and tests of the way to a server.

In order: ``kinds``, ``saved_profiles``, then the tests, of which ``connection_test`` chooses one by kind. May import
what the workbench may, and no other package of the workbench.
"""
