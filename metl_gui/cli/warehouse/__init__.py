"""The command ``metl warehouse``, and how loads follow a source, which ``metl run`` says in the same words.

``commands`` has its actions, ``inputs`` those that change what a target was loaded with. May import what ``cli`` may,
and what its commands share.
"""
