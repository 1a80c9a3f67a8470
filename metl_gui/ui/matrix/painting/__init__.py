"""Painters of the plane, its overlay and its overview map."""
