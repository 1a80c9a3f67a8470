"""The real programs around a mapping, held up for a person: ``python -m tests.live_stack [NAME...] [--shop]``.

Prints their addresses and stays until Ctrl+C, then ends all of them; so does closing its terminal, or killing it.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from metl_gui.cli.output import Output
from metl_gui.core.progress import Watch
from metl_gui.core.runs.target import TOKEN
from metl_gui.engine.spark.protection import SECRET
from metl_gui.errors import RunCancelled, UserError
from metl_gui.packaged import sample_projects
from metl_gui.stack.apicurio import ApicurioRegistry
from metl_gui.stack.component import keep
from metl_gui.stack.connect import ConnectWorker
from metl_gui.stack.kafka import KafkaBroker
from metl_gui.stack.postgres import PostgresServer
from metl_gui.stack.spark import SparkConnect, SparkMaster
from metl_gui.workbench.live import Servers, Shop

NAMES = ("postgres", "kafka", "connect", "apicurio", "spark-master", "spark-connect")
_LOOK_SECONDS = 0.2


class LiveStack:
    """What runs; each part is started when it is first asked for.

    Args:
        stack: ends them.
        watch: progress and cancel.
    """

    def __init__(self, stack: ExitStack, watch: Watch) -> None:
        self.stack = stack
        self.watch = watch

    @cached_property
    def folder(self) -> Path:
        """What nobody else may read lies here."""
        return Path(self.stack.enter_context(TemporaryDirectory(prefix="metl-live-stack-")))

    @cached_property
    def postgres(self) -> PostgresServer:
        return keep(self.stack, PostgresServer(), self.watch)

    @cached_property
    def kafka(self) -> KafkaBroker:
        return keep(self.stack, KafkaBroker(), self.watch)

    @cached_property
    def connect(self) -> ConnectWorker:
        return keep(self.stack, ConnectWorker(self.kafka, writes_avro=True), self.watch)

    @cached_property
    def apicurio(self) -> ApicurioRegistry:
        return keep(self.stack, ApicurioRegistry(), self.watch)

    @cached_property
    def spark_master(self) -> SparkMaster:
        return keep(self.stack, SparkMaster(), self.watch)

    @cached_property
    def spark_connect(self) -> SparkConnect:
        return keep(self.stack, SparkConnect(), self.watch)

    def address(self, name: str) -> str:
        """Start a part and return its address."""
        match name:
            case "postgres":
                return self.postgres.url
            case "kafka":
                return self.kafka.bootstrap
            case "connect":
                return self.connect.url
            case "apicurio":
                return f"{self.apicurio.v3}  {self.apicurio.v2}  {self.apicurio.confluent}"
            case "spark-master":
                return self._with_secret(self.spark_master.address, SECRET, self.spark_master.secret)
            case _:
                return self._with_secret(self.spark_connect.address, TOKEN, self.spark_connect.secret)

    def _with_secret(self, address: str, name: str, secret: str) -> str:
        """Tell a profile's target with the file that holds its secret."""
        path = self.folder / name
        path.touch(0o600)
        path.write_text(f"{secret}\n")
        return f"{address}  --secret {name} < {path}"

    def open_shop(self) -> str:
        """Fill the tables of the live demo, let things happen in them, and return the address of their topics."""
        servers = Servers(self.postgres, self.kafka, self.connect)
        shop = Shop(self.postgres, sample_projects() / "shop")
        shop.make()
        self.stack.callback(shop.close)
        shop.open()
        servers.watch_tables(self.watch)
        return servers.source


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live_stack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to start, by default all: {', '.join(NAMES)}")
    parser.add_argument("--shop", action="store_true", help="open the live demo's shop, whose changes flow into topics")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(NAMES):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    out = Output(as_json=False, stdout=sys.stdout, stderr=sys.stderr)
    with suppress(RunCancelled), ExitStack() as stack:
        watch = stack.enter_context(out.watching())
        try:
            held = LiveStack(stack, watch)
            for name in chosen.names or NAMES:
                out.tell(f"{name:<14} {held.address(name)}")
            if chosen.shop:
                out.tell(f"{'shop':<14} {held.open_shop()}")
            out.tell("All of it runs until Ctrl+C.")
            while not watch.is_cancelled:
                threading.Event().wait(_LOOK_SECONDS)
        except UserError as error:
            out.error(error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
