"""Mapping by a state of the matrix: plans, the kernel that maps batches, previews of single records.

Above both kernels, the reference and the compiled one: ``kernel`` goes over from one to the other. May import
``engine.kernel``, ``formats`` and ``core``.
"""
