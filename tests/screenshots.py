"""Makes the pictures of the documentation: the window on the sample project, each page in both themes.

Run it as ``python -m tests.screenshots``; it starts Spark once, for the picture of a run.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from metl_gui.core.edits.elements import SetElements
from metl_gui.core.matrix.blocks import Element
from metl_gui.workbench.session import EditOrigin, Workbench
from tests.helpers.run_requests import run_request

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"


def map_one_more(workbench: Workbench) -> None:
    """Make an edit as in a window, so that the pictures show something to undo."""
    document = workbench.document
    schema, entity = document.extraction.named("fx.customers.person"), document.cdm.named("customer")
    if schema is None or entity is None:
        raise LookupError("the sample has other names now")
    version = document.extraction.version(schema.version_ids[-1])
    target = document.cdm.version(entity.version_ids[-1])
    p = next(a.id for a in version.attributes if a.path == "address_lines")
    q = next(a.id for a in target.attributes if a.path == "address.lines")
    workbench.do(SetElements((version.id, target.id), (Element(q, p),)), EditOrigin.WINDOW)


def main(folder: Path) -> None:
    """Take all pictures of a project that was made and run for them."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ["METL_USER"] = "Ada"
    from metl_gui.packaged import sample_projects
    from metl_gui.ui.context.app_context import PAGES
    from metl_gui.ui.shell.screenshot import posed_window, save_picture
    from metl_gui.workbench.demo.sample import SampleFolder, add_waiting, build_project
    from metl_gui.workbench.runs.mapping_run import run_mapping

    sample = SampleFolder(Path(shutil.copytree(sample_projects() / "fx", folder / "fx")))
    with build_project(sample) as workbench:
        add_waiting(workbench, sample)
        map_one_more(workbench)
        run_mapping(workbench, run_request(str(sample.messages)))
    for theme in ("light", "dark"):
        with posed_window(sample.project, theme, for_editing=True) as window:
            window.run_page.setup.source.setText("fx/cdc")
            window.warehouse.page.load.source.setText("fx/cdc")
            window.warehouse.page.load.target.setText("duckdb:fx/fx.duckdb")
            for number, page in enumerate(PAGES):
                window.show_page(number)
                save_picture(window, PICTURES / f"{page.lower()}-{theme}.png")
            window.show_page(0)
            save_picture(window, PICTURES / f"fit-{theme}.png", window.map.matrix.fit)
        with posed_window(sample.project, theme, for_editing=True) as window:
            for action in ("history", "time_slider", "compare_with_live"):
                window.actions_table[action].trigger()
            save_picture(window, PICTURES / f"history-{theme}.png")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name))
    sys.stdout.write(f"{PICTURES}\n")
