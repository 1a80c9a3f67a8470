"""The demo: a project made of a sample folder, and what happens to it, also on real servers.

``sample`` needs no server; ``live_story`` is what happens on real ones, ``live_decisions`` who decides in it. The last
package of the workbench: it calls the use cases of the others, and ``workbench.live`` for the servers.
"""
