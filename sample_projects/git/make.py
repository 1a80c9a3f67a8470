"""Make the export and the schema of this example out of the sample project ``fx`` beside it.

python sample_projects/git/make.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from metl_gui.core.trees.nodes import Side
from metl_gui.workbench.exports.files import export_published
from metl_gui.workbench.exports.formats import EXPORTS
from metl_gui.workbench.importing.schema_import import import_sources
from metl_gui.workbench.mapping.table import import_mapping
from metl_gui.workbench.publishing.publication import publish
from metl_gui.workbench.session import Workbench

HERE = Path(__file__).resolve().parent
FX = HERE.parent / "fx"
TOPIC = "fx.payments.orders"


def make(folder: Path) -> None:
    """Write ``mappings/payments.json`` and ``schemas/`` with the newest version of the topic into a folder."""
    history = (FX / "schemas" / f"{TOPIC}.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    for name in ("mappings", "schemas"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "schemas" / f"{TOPIC}.jsonl").write_text(history[-1], encoding="utf-8")
    with TemporaryDirectory() as place:
        table = Path(place) / "mapping.csv"
        lines = (FX / "mapping.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        table.write_text(lines[0] + "".join(line for line in lines if _is_told(line)), encoding="utf-8")
        with Workbench.create(Path(place) / "payments.metl", who="sample") as workbench:
            import_sources(workbench, Side.CDM, [FX / "cdm" / "payment"])
            import_sources(workbench, Side.EXTRACTION, [FX / "schemas" / f"{TOPIC}.jsonl"])
            import_mapping(workbench, table)
            publish(workbench)
            export_published(workbench, EXPORTS["json"], folder / "mappings" / "payments.json")


def _is_told(line: str) -> bool:
    schema, _, _, entity = line.split(",")[:4]
    return schema == TOPIC and entity == "payment"


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
