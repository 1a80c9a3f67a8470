"""What earlier versions of the program left in files and topics, and what today's program must still make of it.

``tests/cases/versions/<version>`` holds what that very version wrote. Nothing in there is ever written anew by a later
program: what is renamed or restructured has to open, go on with and compare these files as they are.

    project.sql.xz   a project file with something in every table, as SQL
    files.tar.xz     messages, outputs, run folders, a checkpoint, an error store, as they lay in one folder
    answers/         what the commands of that version said of the project and its runs, with ``--json``
    exports.tar.xz   the published matrix in every format
    runs.json        the ids of its runs, by what became of them
    topics/          what stood in the topics of fast lanes, what their groups had committed, and the folder of one
    window.ini       what a window remembered; window.json, how it stood then

``python -m tests.compatibility FOLDER`` makes such a folder with the present program, for the version that is about to
be released; it needs Spark and the jars of ``metl doctor --live``. Run ids, times and ids of projects are those of that
day. Whatever names the computer is replaced: the folder that everything lay in by ``ROOT``, the Kafka servers by
``BROKER``, the computer by ``HOST`` and its start by ``MACHINE``. Installing the files puts a folder and servers of the
test in place of the first two; the others stay, so a process that is named there is one of a computer far away that has
been silent for long.
"""
