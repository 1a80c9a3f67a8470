"""The dynamic mapping matrix and the document it makes with both trees: blocks of elements, dense and compact.

``blocks`` < ``matrix`` < ``document`` are the values; ``compact`` turns the dense set into the compact one and back,
``canonical`` writes a state by names, for exports and its hash. May import ``core.trees``.
"""
