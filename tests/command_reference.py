"""Writes the reference of the commands, ``docs/reference/commands.md``, from the program's own parser.

Run it as ``python -m tests.command_reference`` after a change of the command line; a test holds the page to the parser.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from metl_gui.cli.main import build_parser

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "commands.md"
_HEAD = """\
# Commands

<!-- Written by `python -m tests.command_reference` from the parser of the program; changes here are lost. -->

`metl COMMAND --help` says the same. Options may be written before or after what they go with; names of options are
never cut short. Everywhere: `--json` prints one JSON document on stdout ([Documents](json.md)), `--debug` shows the
traceback of an error, `-h` or `--help` shows the help of a command. `metl --version` prints the version.
"""
_EVERYWHERE = {"help", "json", "debug", "version"}


def page() -> str:
    """Return the page as it should be."""
    commands = list(_commands(build_parser()))
    lines = [_HEAD, "| command | does |", "|---|---|"]
    lines += [f"| [`{command.prog}`](#{_anchor(command)}) | {_cell(does)} |" for command, does in commands]
    lines += ["", *(line for command, does in commands for line in _section(command, does))]
    return "\n".join(lines).rstrip() + "\n"


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[argparse.ArgumentParser, str]]:
    """Yield the parser of each command with what it does, a command's own commands behind it."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield command, next(choice.help or "" for choice in action._choices_actions if choice.dest == name)
                yield from _commands(command)


def _section(command: argparse.ArgumentParser, does: str) -> Iterator[str]:
    yield f"## {command.prog}"
    yield ""
    yield _text(command.description or f"{does[:1].upper()}{does[1:]}.")
    yield ""
    for group in command._action_groups:
        actions = [a for a in group._group_actions if a.dest not in _EVERYWHERE]
        if not actions:
            continue
        if group.title not in ("positional arguments", "options"):
            yield f"**{str(group.title).capitalize()}.** {_text(group.description or '')}".rstrip()
            yield ""
        yield f"| {'argument' if group.title == 'positional arguments' else 'option'} | means |"
        yield "|---|---|"
        for action in actions:
            yield f"| {_names(action)} | {_cell(_meaning(action))} |"
        yield ""


def _names(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_cell(_value(action))}`"
    value = "" if action.nargs == 0 else f" {_value(action)}"
    return ", ".join(f"`{name}{_cell(value)}`" for name in action.option_strings)


def _value(action: argparse.Action) -> str:
    choices = "" if isinstance(action, argparse._SubParsersAction) else "|".join(map(str, action.choices or ()))
    word = action.metavar or choices or action.dest.upper()
    more = {"+": f"{word} ...", "*": f"[{word} ...]", "?": f"[{word}]"}
    if isinstance(word, tuple):
        return " ".join(word)
    return " ".join([word] * action.nargs) if isinstance(action.nargs, int) else more.get(str(action.nargs), word)


def _meaning(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return f"what to do: {', '.join(action.choices)}"
    expanded = (action.help or "") % {**vars(action), "prog": "metl"}
    choices = f"one of {', '.join(map(str, action.choices))}" if action.choices and action.metavar else ""
    return "; ".join(filter(None, (expanded, choices, "required" if _must(action) else "")))


def _must(action: argparse.Action) -> bool:
    return bool(action.option_strings) and action.required


def _anchor(command: argparse.ArgumentParser) -> str:
    return command.prog.replace(" ", "-").lower()


def _text(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
