"""Links to places of a project: written, read, followed to the project file, and what stands there.

In order: ``link`` is the text of a link, ``known_projects`` finds its project file, ``set_aside`` says where a record
is mended, ``places`` what stands at a place, ``message_reasons`` which cells and decisions a message comes from. May
import what the workbench may, of its packages ``history`` and ``samples``.
"""
