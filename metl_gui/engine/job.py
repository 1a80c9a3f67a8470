"""Map Debezium messages with one state of a METL matrix, as a Spark job that needs nothing of METL installed.

    spark-submit job.py SOURCE SINK [--errors FOLDER] [--format jsonl|parquet] [--limit N] [--report FILE] [--strict]

The kernel travels in metl-kernel.zip, the matrix in plan.json; both lie beside this program (or, with
--deploy-mode cluster, in the folder that --py-files and --files put them into). README.md says more.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

KERNEL, PLAN = "metl-kernel.zip", "plan.json"
NEEDED = ("pyarrow", "pandas", "msgspec", "numpy")
DONE, AT_FAULT, SET_ASIDE = 0, 1, 3
"""Exit codes; 2 is argparse's own."""


def main(arguments: list[str]) -> int:
    """Check what is there, map, and print the report as JSON on standard output."""
    asked = _parser().parse_args(arguments)
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        return _fail(
            f"The Python of the driver ({sys.executable}) lacks {' and '.join(missing)}.",
            f"Install there: {sys.executable} -m pip install -r requirements.txt. Or pack an environment: README.md.",
        )
    kernel, plan = _beside(KERNEL), _beside(PLAN)
    if kernel is None or plan is None:
        return _fail(
            f"{KERNEL if kernel is None else PLAN} is not beside this program.",
            f"Submit the folder as it was exported; in cluster mode with --py-files {KERNEL} --files {PLAN}.",
        )
    sys.path.insert(0, str(kernel))
    report = _mapped(asked, kernel, plan)
    if "error" in report:
        error = report["error"]
        return _fail(f"{error['title']} {error['text']}".strip(), error["hint"])
    text = json.dumps(report, indent=2, ensure_ascii=False)
    print(text)  # noqa: T201 - what the job says
    if asked.report:
        Path(asked.report).write_text(text + "\n", encoding="utf-8")
    return SET_ASIDE if asked.strict and report["set_aside"] else DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="job.py", description="Map Debezium messages to the canonical data model.")
    parser.add_argument("source", help="a file, a folder or a pattern that driver and workers see under one path")
    parser.add_argument("sink", help="a folder that is new or empty: one sub-folder for each entity; or noop")
    parser.add_argument("--errors", default="", help="folder for what is set aside, by default SINK-errors")
    parser.add_argument("--format", default="jsonl", choices=["jsonl", "parquet"], help="how messages are written")
    parser.add_argument("--limit", type=int, help="read at most this many records")
    parser.add_argument("--report", default="", metavar="FILE", help="write the report here too")
    parser.add_argument("--strict", action="store_true", help="end with 3 when a record was set aside")
    return parser


def _mapped(asked: argparse.Namespace, kernel: Path, plan: Path) -> dict[str, Any]:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from metl_gui.engine.execution.submitted_run import run_job
    from metl_gui.engine.spark.protection import protecting_settings

    conf = SparkConf()
    conf.setAll(list(protecting_settings(dict(conf.getAll())).items()))
    spark = SparkSession.builder.config(conf=conf).appName("METL mapping").getOrCreate()
    errors = asked.errors or f"{asked.sink.rstrip('/')}-errors"
    wanted = {"source": asked.source, "sink": asked.sink, "format": asked.format, "limit": asked.limit}
    try:
        spark.sparkContext.addPyFile(str(kernel))
        return run_job(spark, plan, wanted | {"errors": errors})
    finally:
        spark.stop()


def _beside(name: str) -> Path | None:
    """Find a file of the folder beside this program or, in cluster mode, where Spark puts what travels along."""
    places = (Path(__file__).resolve().parent / name, Path.cwd() / name)
    return next((place for place in places if place.is_file()), None)


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _fail(text: str, hint: str) -> int:
    print(f"error: {text}\nhint: {hint}", file=sys.stderr)  # noqa: T201 - what the job says
    return AT_FAULT


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
