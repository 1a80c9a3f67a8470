"""What every part of the window shares, handed to its controllers in place of the window.

``app_context`` builds on ``project_writer``. Of ``ui`` it may import ``actions``, ``jobs`` and ``project``; pages and
controllers import it, and never the shell that makes it.
"""
