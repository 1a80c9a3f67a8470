"""Commands of the program, each in a process of its own that is forked from one which has the program loaded.

A command that is started anew spends most of its time on Python and on modules. Whoever runs many, and is not after
how a command starts, has them from a ``CommandServer``: ``python -m tests.helpers.forked_commands`` reads orders from
its standard input, one line of JSON each, and answers each with the code that its command ended with.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Self

import msgspec

_LOADED = (
    "metl_gui.workbench.session",
    "metl_gui.workbench.review.decisions",
    "metl_gui.workbench.runs.replay",
    "metl_gui.engine.lanes.report",
)
"""With what these load, nearly all that commands of projects, runs and lanes do; none of it starts a thread."""


class CommandOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One command.

    Args:
        arguments: what stands behind the name of the program.
        stdin, stdout, stderr: files.
    """

    arguments: Sequence[str]
    stdin: str
    stdout: str
    stderr: str


class CommandServer:
    """The process that commands are forked from, while a ``with`` block lasts.

    Args:
        folder: where the commands work.
        environment: of the commands.
        files: a folder for what they are given and what they say.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str], files: Path) -> None:
        self.files = files
        self._count = 0
        command = [sys.executable, "-m", __name__]
        self._process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            _pipe(self._process.stdin).close()

    def run(self, arguments: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a command and wait for its end.

        Args:
            arguments: of the command.
            given: what it reads from its standard input.
        """
        self._count += 1
        stdin, stdout, stderr = (self.files / f"{name}-{self._count}" for name in ("stdin", "stdout", "stderr"))
        stdin.write_text(given)
        order = CommandOrder(arguments=arguments, stdin=str(stdin), stdout=str(stdout), stderr=str(stderr))
        orders, answers = _pipe(self._process.stdin), _pipe(self._process.stdout)
        orders.write(msgspec.json.encode(order) + b"\n")
        orders.flush()
        code = int(answers.readline())
        return subprocess.CompletedProcess(arguments, code, stdout.read_text(), stderr.read_text())


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def serve() -> None:
    """Fork a process for each order until there are no more."""
    from metl_gui.cli.main import build_parser

    build_parser()  # loads what a command loads before it does its own work
    for module in _LOADED:
        importlib.import_module(module)
    # Commands have the numbers 0 to 2 for themselves.
    with os.fdopen(os.dup(0), "rb") as orders, os.fdopen(os.dup(1), "wb", buffering=0) as answers:
        for line in orders:
            process_id = os.fork()
            if process_id == 0:
                orders.close()
                answers.close()
                _run(msgspec.json.decode(line, type=CommandOrder))
            _, status = os.waitpid(process_id, 0)
            answers.write(b"%d\n" % os.waitstatus_to_exitcode(status))


def _run(order: CommandOrder) -> None:
    """Be the process of a command."""
    from metl_gui.cli.main import main

    new = os.O_WRONLY | os.O_CREAT
    for number, (path, flags) in enumerate(((order.stdin, os.O_RDONLY), (order.stdout, new), (order.stderr, new))):
        file = os.open(path, flags, 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.argv[1:] = order.arguments
    sys.exit(main())


if __name__ == "__main__":
    serve()
