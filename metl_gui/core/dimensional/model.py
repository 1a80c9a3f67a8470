"""The declarations of ``core.warehouse_model``, under the name that readers of this package look for.

They stand outside of it because the document has them, and most of this package has to do with documents.
"""

from metl_gui.core.warehouse_model import *  # noqa: F403 - what it lists, and all of it
