"""The headers of both axes and the legend."""
