"""Registries and databases in the window: browsed, imported from, and watched for new versions.

``controller`` builds on ``browser``. Of ``ui`` it may import ``importing``, ``context`` and what these may.
"""
