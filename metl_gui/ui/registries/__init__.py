"""Registries and databases in the window: browsed, imported from, and watched for new versions."""
