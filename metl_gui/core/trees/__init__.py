"""The extraction tree and the CDM tree: schemas, entities, versions, attributes, their types and names.

``declarations`` is what a source says before anything has ids, ``nodes`` what has them, ``trees`` holds them as columns
with an overlay of what was edited. The lowest package of core: may import ``errors`` alone.
"""
