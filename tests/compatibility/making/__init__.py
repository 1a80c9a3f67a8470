"""Makes the files that the present version keeps, mostly by its commands."""
