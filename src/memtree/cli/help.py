"""Help texts and suggestions, made from the declared commands."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memtree.cli.options import Command

WIDTH = 26
"""Columns of the left part of a list."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """``"; did you mean X?"`` for the known word most like the given one, or nothing."""
    from difflib import get_close_matches

    # Any two short options are alike.
    close = get_close_matches(given, sorted(known), n=1, cutoff=0.5) if len(given) > 2 else ()
    return f"; did you mean {close[0]}?" if close else ""


def usage(command: Command) -> str:
    """The usage line of a command."""
    words = [command.name]
    for argument in command.arguments:
        word = argument.name.upper() if not argument.choices else "|".join(argument.choices)
        word += "..." if argument.many else ""
        words.append(f"[{word}]" if argument.optional else word)
    return "usage: " + " ".join(words) + " [options]"


def _rows(rows):
    """Two columns; a left part too long for its column gets a line of its own."""
    for left, right in rows:
        if len(left) > WIDTH - 2:
            yield f"  {left}"
            left = ""
        yield f"  {left:<{WIDTH - 2}}{right}"


def command_help(command: Command) -> str:
    """The whole help of a command."""
    lines = [usage(command), "", command.summary[0].upper() + command.summary[1:] + "."]
    if command.notes:
        lines += ["", command.notes]
    if command.arguments:
        lines += ["", "arguments:"]
        lines += _rows((argument.name.upper(), argument.help) for argument in command.arguments)
    lines += ["", "options:"]
    lines += _rows(
        (", ".join(option.names) + (f" {option.metavar}" if option.metavar else ""), option.help)
        for option in command.options
    )
    if command.examples:
        lines += ["", "examples:"]
        for example, what in command.examples:
            lines += [f"  {example}", f"      {what}"]
    return "\n".join(lines) + "\n"


def program_help(commands: Iterable[Command], version: str) -> str:
    """The help of ``memtree`` itself: what there is."""
    lines = [
        f"memtree {version}: find the right note again in a folder of Markdown files.",
        "",
        "usage: memtree COMMAND [arguments] [options]",
        "",
        "commands:",
        *_rows((command.name.split()[-1], command.summary) for command in commands),
        "",
        "memtree help COMMAND tells more; memtree --version the version.",
        "Exit status: 0 found or done, 1 nothing found or not answerable, 2 the call or a file is wrong.",
    ]
    return "\n".join(lines) + "\n"
