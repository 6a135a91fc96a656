"""Commands, their options, and the parser that all of them share.

A command declares itself once, as a :class:`Command`; parsing, help (:mod:`memtree.cli.help`) and shell
completion (:mod:`memtree.cli.completion`) are made from that. ``argparse`` would cost a recall as much time
as starting Python.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


class UsageError(Exception):
    """The command was called wrongly; `hint` says how to call it."""

    def __init__(self, message: str, hint: str = ""):
        super().__init__(message)
        self.message = message
        self.hint = hint


class Option:
    """One option of a command.

    Parameters
    ----------
    *names : str
        ``-k`` and ``--limit`` forms; the last one names the attribute of the parsed values.
    help : str
        What it does, in a line.
    metavar : str, optional
        Name of its value; None makes it a flag.
    kind : callable
        Turns the text into the value; a ValueError's message is shown to the user.
    choices : sequence of str
        The only values allowed.
    is_folder : bool
        The shell completes folders.
    """

    __slots__ = ("choices", "default", "dest", "is_folder", "help", "kind", "metavar", "names")

    def __init__(
        self,
        *names: str,
        help: str,
        metavar: str | None = None,
        kind: Callable = str,
        default=None,
        choices: Sequence[str] = (),
        is_folder: bool = False,
    ):
        self.names = names
        self.help = help
        self.metavar = metavar
        self.kind = kind
        self.default = default if metavar else False
        self.choices = choices
        self.is_folder = is_folder
        self.dest = names[-1].lstrip("-").replace("-", "_")


class Argument:
    """One positional argument; `many` takes all that is left, joined with spaces or, if it is `apart`, as a list."""

    __slots__ = ("apart", "choices", "help", "kind", "many", "name", "optional")

    def __init__(
        self,
        name: str,
        help: str,
        *,
        kind: Callable = str,
        many: bool = False,
        apart: bool = False,
        optional: bool = False,
        choices: Sequence[str] = (),
    ):
        self.name = name
        self.help = help
        self.kind = kind
        self.many = many
        self.apart = apart
        self.optional = optional
        self.choices = choices


class Command:
    """A command: what it is called, takes and does.

    Parameters
    ----------
    name : str
        As typed, ``memtree recall``.
    summary : str
        One line for the list of commands.
    run : callable
        Takes the parsed values, returns the exit status.
    examples : sequence of (command, what it does)
    notes : str
        A paragraph for the command's own help.
    """

    __slots__ = ("arguments", "examples", "name", "notes", "options", "run", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        run: Callable[[Values], int],
        arguments: Sequence[Argument] = (),
        options: Sequence[Option] = (),
        examples: Sequence[tuple[str, str]] = (),
        notes: str = "",
    ):
        self.name = name
        self.summary = summary
        self.run = run
        self.arguments = arguments
        self.options = (*options, HELP)
        self.examples = examples
        self.notes = notes


class Values:
    """The parsed command line, an attribute for each option and argument."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...


def text(value: str) -> str:
    """A text; the bytes of an argument that is no UTF-8 arrive as lone surrogates."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("is not valid UTF-8") from None
    return value


def natural(value: str) -> int:
    """A whole number from 0 up."""
    if not (value.isascii() and value.isdigit()) or len(value) > 9:
        raise ValueError("must be a whole number, 0 or more")
    return int(value)


def day(value: str) -> str:
    """A date like 2026-01-31."""
    from datetime import date

    try:
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise ValueError("must be a date like 2026-01-31") from None


HELP = Option("-h", "--help", help="show this help")
BANK = Option(
    "--bank",
    metavar="DIR",
    is_folder=True,
    help="workspace or folder of notes (default: found upward from here)",
)
JSON = Option("--json", help="print JSON")
COLOR = Option(
    "--color",
    metavar="WHEN",
    choices=("auto", "always", "never"),
    default="auto",
    help="colour the output: auto, always or never",
)
LOGS = Option("--logs", help="take in the daily logs of memory/ too")
MODE = Option(
    "--mode",
    metavar="MODE",
    choices=("korean", "prefix"),
    help="text analysis: korean (default), or prefix, the rule of the old script",
)


def parse(command: Command, argv: Sequence[str]) -> Values:
    """Read the arguments of a command.

    Raises
    ------
    UsageError
        Something is unknown, missing, too much or no such value.
    """
    hint = f"{command.name} --help" if " " not in command.name else "memtree help " + command.name.split()[-1]
    by_name = {name: option for option in command.options for name in option.names}
    values = Values()
    for option in command.options:
        setattr(values, option.dest, option.default)
    words: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word == "--":
            words.extend(rest)
        elif not word.startswith("-") or word == "-":
            words.append(word)
        else:
            name, equals, value = word.partition("=")
            if not word.startswith("--") and len(word) > 2:
                name, equals, value = word[:2], "=", word[2:].removeprefix("=")
            found = by_name.get(name)
            if found is None:
                from memtree.cli.help import did_you_mean

                raise UsageError(
                    f"unknown option {name}{did_you_mean(name, by_name)}",
                    f"{hint}; text that starts with a dash goes after --",
                )
            if found.metavar is None:
                if equals:
                    raise UsageError(f"{name} takes no value", hint)
                setattr(values, found.dest, True)
                continue
            if not equals:
                following = next(rest, None)
                if following is None:
                    raise UsageError(f"{name} needs a value: {name} {found.metavar}", hint)
                value = following
            setattr(values, found.dest, _value(found, name, value, hint))
    if values.help:
        return values
    _arguments(command, words, values, hint)
    return values


def _arguments(command, words, values, hint):
    """Hand the positional words to the arguments of the command."""
    for argument in command.arguments:
        if not words:
            if argument.optional:
                setattr(values, argument.name, None)
                continue
            raise UsageError(f"{argument.name.upper()} is missing: {argument.help}", hint)
        name = argument.name.upper()
        if argument.apart:
            setattr(values, argument.name, [_value(argument, name, word, hint) for word in words])
            return
        given = " ".join(words) if argument.many else words[0]
        words = [] if argument.many else words[1:]
        setattr(values, argument.name, _value(argument, name, given, hint))
    if words:
        raise UsageError(f"one argument too many: {words[0]!r}", hint)


def _value(declared, name, given, hint):
    """The value of an option or argument, checked."""
    if declared.choices and given not in declared.choices:
        from memtree.cli.help import did_you_mean

        raise UsageError(
            f"{name} must be one of {', '.join(declared.choices)}, not {given!r}"
            + did_you_mean(given, declared.choices),
            hint,
        )
    try:
        return declared.kind(given)
    except ValueError as error:
        raise UsageError(f"{name} {error}, not {given!r}", hint) from None
