"""The formats that the matrix is exported in, one module a format or two.

A format is a row of ``formats.EXPORTS`` and a function that writes one state into a fresh file or an empty folder
(``format_spec.Write``). What is common to all stands elsewhere: which state and who asks in ``exports.files``, files
that are whole or not there in ``workbench.atomic_files``. Every format says what it cannot say: always
(``Export.limits``) and of one state (what its function returns). Libraries that only one format needs are imported when
it writes.

May import what the workbench may, and of the workbench ``publishing``.
"""
