"""Suggestions: which elements a block may want, ranked, with a score and a reason in words.

Never applied unasked. ``names`` compares names and is the one scorer of the program (``review.rename_proposals`` uses
it too), ``evidence`` weighs what else speaks for a pair, ``block`` ranks the candidates of a block and picks the best
1:1 set, ``entities`` finds which entities a schema may feed, ``blocks`` lists the candidates of many blocks. May
import ``core.trees``, ``core.matrix``, ``core.project``, ``core.progress``, numpy, and lazily scipy and rapidfuzz.
"""
