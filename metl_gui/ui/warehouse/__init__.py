"""The Warehouse page: star diagram, columns of a table, loads, and the controller of what is done there.

``star`` says what the diagram shows and where; ``star_view`` paints it. Of ``ui`` it may import ``context``, views and
``run``, whose Spark maps what is loaded.
"""
