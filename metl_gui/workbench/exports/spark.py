"""``spark``: a folder that ``spark-submit`` runs anywhere: program, kernel and plan, with nothing of ours installed.

Source: docs/guide/exports.md; docs/reference/message.md.
"""

from __future__ import annotations

from pathlib import Path

from metl_gui import __version__
from metl_gui.core.matrix.canonical import state_hash
from metl_gui.core.matrix.document import Document
from metl_gui.core.progress import Watch
from metl_gui.errors import UserError
from metl_gui.workbench.exports.format_spec import Choices, Export
from metl_gui.workbench.exports.mappable_blocks import count_masked, mask_sentences

_REQUIREMENTS = """\
# What the Python of driver and workers needs beside Spark's own.
pyarrow>=18
pandas>=2.2,<3  # asked for by Spark's own Arrow functions
msgspec>=0.19
numpy>=1.26
numba>=0.61  # machine code for the kernel; without it records are mapped with the same outcome, but slower
"""

_README = """\
# Mapping with METL on Spark

State {state} of the matrix ({hash}), exported by METL Workbench {version}. Nothing of METL is installed on the
cluster: `metl-kernel.zip` is the kernel, `plan.json` the compiled matrix, `job.py` the program.

    spark-submit job.py SOURCE SINK [--errors FOLDER] [--format jsonl|parquet] [--limit N] [--report FILE] [--strict]

- SOURCE: a file, a folder or a pattern: JSON lines, JSON arrays, concatenated JSON or Avro containers of Debezium
  messages, plain or packed with gzip, zstd or bzip2.
- SINK: a folder that is new or empty. It gets one sub-folder for each entity, whole or not at all. `noop` only counts.
- What cannot be mapped lies with its reason in SINK-errors (or --errors); the report on standard output counts every
  record: read = mapped + filtered + set_aside + skipped.
- It maps as production does: with the confirmed blocks{unconfirmed}; a block that waits for a review sets its
  messages aside.
- Exit code 0 done, 1 something is at fault (said on standard error), 2 wrong usage, 3 with --strict when a record
  was set aside.

## What the cluster needs

Spark 4.0 or newer (tried with 4.2), and Python 3.11 or newer with `pyarrow`, `pandas`, `msgspec` and `numpy` on the
driver and on every worker, in the same minor version of Python. All of them but `msgspec` are what PySpark's own Arrow
functions need. With `numba` it maps many times faster; the outcome is the same. The job looks for all of it before it
reads anything, and says what is missing where. Where you cannot install packages on the workers, send them along
(once, on a computer like them):

    python3 -m venv env && env/bin/pip install -r requirements.txt venv-pack
    env/bin/venv-pack -o env.tar.gz
    PYSPARK_DRIVER_PYTHON=env/bin/python PYSPARK_PYTHON=./env/bin/python spark-submit \\
        --archives env.tar.gz#env job.py SOURCE SINK

Source and sink must lie on storage that driver and workers see under one path (NFS, a mounted bucket, /dbfs or
/Volumes on Databricks); `hdfs://` and `s3://` addresses are not read.

## Where it runs

On this computer:

    spark-submit --master 'local[*]' job.py SOURCE SINK

There its ports are closed to the computer's other users, and Spark's pages are off unless `spark.ui.enabled` is set.

On a standalone cluster:

    spark-submit --master spark://HOST:7077 job.py SOURCE SINK

On YARN or Kubernetes, with the driver here (client mode) or there (cluster mode, in which the files travel along):

    spark-submit --master yarn job.py SOURCE SINK
    spark-submit --master yarn --deploy-mode cluster --py-files metl-kernel.zip --files plan.json job.py SOURCE SINK

On a platform that takes Python jobs (Databricks, EMR, Dataproc): give `job.py` as the program, the other two files
beside it or as its files, and the packages of `requirements.txt` as libraries. It needs a classic Spark session, not
a Spark Connect one.
"""


def _write(document: Document, choices: Choices, path: Path, watch: Watch) -> tuple[str, ...]:
    import msgspec

    from metl_gui.engine import job
    from metl_gui.engine.kernel import plan as plans
    from metl_gui.engine.mapping.plan_compiler import compile_plan
    from metl_gui.engine.spark.archive import write_kernel

    watch.step(f"Compiling state {document.state}")
    beside, hash_ = choices.beside, state_hash(document)
    plan = compile_plan(document, hash_, choices.include_unconfirmed, beside.wire, beside.framing)
    try:
        encoded = plans.encode(plan)
    except UnicodeEncodeError as error:
        name = error.object.encode("unicode_escape").decode()
        raise UserError(
            "A name of the mapping is no Unicode text.", f"It is {name}.", "No message can carry it: rename it first."
        ) from error
    members = msgspec.json.decode(encoded, type=dict[str, msgspec.Raw])
    whole = msgspec.json.encode({"publication": beside.publication} | members)
    (path / job.PLAN).write_bytes(msgspec.json.format(whole, indent=1))
    watch.step("Packing the kernel")
    write_kernel(path / job.KERNEL)
    (path / "job.py").write_bytes(Path(job.__file__).read_bytes())
    (path / "requirements.txt").write_text(_REQUIREMENTS, encoding="utf-8")
    unconfirmed = " and with those that nobody has confirmed" if choices.include_unconfirmed else ""
    readme = _README.format(state=document.state, hash=hash_, version=__version__, unconfirmed=unconfirmed)
    (path / "README.md").write_text(readme, encoding="utf-8")
    return mask_sentences(count_masked(document, choices.include_unconfirmed, watch))


SPARK = Export(
    "spark",
    "A folder that spark-submit runs, with nothing of METL on the cluster",
    "",
    _write,
    is_folder=True,
    limits=(
        "It reads and writes files under paths that all workers see: no topics, no hdfs:// or s3://.",
        "It stays with this state: what is published later needs another export.",
        "The cluster's Python needs pyarrow, pandas, msgspec and numpy (numba for speed), which are not carried along.",
    ),
    leavings=("__pycache__", "spark-warehouse", "metastore_db", "derby.log", "artifacts"),
)
