"""All formats of exports, by their names; loaded where one is chosen, as each brings its own modules."""

from __future__ import annotations

from metl_gui.errors import UserError, near_names
from metl_gui.workbench.exports.dbt import DBT
from metl_gui.workbench.exports.format_spec import Export
from metl_gui.workbench.exports.html_page import HTML
from metl_gui.workbench.exports.kafka_connect import KAFKA_CONNECT
from metl_gui.workbench.exports.matrix import DUSB, JSON
from metl_gui.workbench.exports.openlineage import OPENLINEAGE
from metl_gui.workbench.exports.spark import SPARK
from metl_gui.workbench.exports.sql import SQL
from metl_gui.workbench.exports.sssom import SSSOM
from metl_gui.workbench.exports.table import CSV, PARQUET
from metl_gui.workbench.exports.xlsx import XLSX

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
