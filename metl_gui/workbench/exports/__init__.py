"""The formats that the matrix is exported in, one module a format or two.

A format is a row in ``EXPORTS`` and a function that writes one state into a fresh file or an empty folder
(``format_spec.Write``). What is common to all stands elsewhere: which state and who asks in ``exports.files``, files
that are whole or not there in ``workbench.atomic_files``. Every format says what it cannot say: always
(``Export.limits``) and of one state (what its function returns). Libraries that only one format needs are imported when
it writes.

May import what the workbench may, and of the workbench ``publishing``.
"""

from __future__ import annotations

from metl_gui.errors import UserError, near_names
from metl_gui.workbench.exports.dbt import DBT
from metl_gui.workbench.exports.format_spec import Choices, Export, Option
from metl_gui.workbench.exports.html_page import HTML
from metl_gui.workbench.exports.kafka_connect import KAFKA_CONNECT
from metl_gui.workbench.exports.matrix import DUSB, JSON
from metl_gui.workbench.exports.openlineage import OPENLINEAGE
from metl_gui.workbench.exports.spark import SPARK
from metl_gui.workbench.exports.sql import SQL
from metl_gui.workbench.exports.sssom import SSSOM
from metl_gui.workbench.exports.table import CSV, PARQUET
from metl_gui.workbench.exports.xlsx import XLSX

__all__ = ["EXPORTS", "Choices", "Export", "Option", "find_export"]

EXPORTS: dict[str, Export] = {
    export.name: export
    for export in (JSON, DUSB, CSV, PARQUET, XLSX, HTML, SPARK, SQL, DBT, KAFKA_CONNECT, SSSOM, OPENLINEAGE)
}
"""The formats by name, in the order in which they are listed."""


def find_export(name: str) -> Export:
    """Return the format that a person named.

    Raises:
        UserError: there is no such format.
    """
    try:
        return EXPORTS[name]
    except KeyError as error:
        known = ", ".join(EXPORTS)
        raise UserError(
            f"There is no export format {name!r}.", near_names(name, EXPORTS), f"Formats are {known}."
        ) from error
