"""``metl demo --live``: a small shop on real servers, a project made of what flows, a lane in production, two releases.

``shop`` is the tables and what happens in them, ``servers`` what they run on, ``project`` what is set up from their
messages, ``lane`` the production run, ``story`` what happens one after the other, by itself or with a person at the
window. All of it ends with whoever started it, also when that is killed.
"""
