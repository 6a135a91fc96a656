"""Entry point of ``memtree``: find the command, run it, turn errors into messages and exit statuses.

A recall as a whole process is measured against ``python -c pass`` (``bench/test_cold.py``), so what is
imported here and by the command is counted in milliseconds: no argparse, json or re on that way.
"""

from __future__ import annotations

import os
import sys

from memtree.cli.options import Command, UsageError, parse
from memtree.errors import MemtreeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMANDS = ("recall", "explain", "get", "retain", "index", "status", "watch-size", "split", "undo", "config",
            "completion")
FOUND, NOTHING, FAILED = 0, 1, 2
BROKEN_PIPE, INTERRUPTED = 141, 130
"""What a shell reports for a process ended by SIGPIPE and SIGINT."""


def load(name: str) -> Command:
    """Import the module of a command."""
    return __import__(f"memtree.cli.{name.replace('-', '_')}", fromlist=("COMMAND",)).COMMAND


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``memtree``; returns the exit status."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    return guarded("memtree", lambda: _dispatch(arguments))


def _dispatch(arguments):
    """Run what the first word names."""
    name = arguments[0] if arguments else "--help"
    if name in COMMANDS:
        return run(load(name), arguments[1:])
    if name in ("-h", "--help", "help"):
        return _help(arguments[1:])
    if name in ("-V", "--version"):
        from memtree import __version__

        print(f"memtree {__version__}")
        return FOUND
    from memtree.cli.help import did_you_mean

    kind = "option" if name.startswith("-") else "command"
    known = COMMANDS if kind == "command" else ("--help", "--version")
    raise UsageError(f"unknown {kind} {name!r}{did_you_mean(name, known)}", "memtree help")


def _help(names):
    """Print the help of a command, or the list of them."""
    from memtree import __version__
    from memtree.cli.help import command_help, did_you_mean, program_help

    if not names:
        print(program_help(map(load, COMMANDS), __version__), end="")
    elif names[0] in COMMANDS:
        print(command_help(load(names[0])), end="")
    else:
        raise UsageError(f"unknown command {names[0]!r}{did_you_mean(names[0], COMMANDS)}", "memtree help")
    return FOUND


def run(command: Command, arguments: Sequence[str]) -> int:
    """Parse the arguments of one command and run it."""
    values = parse(command, arguments)
    if values.help:
        from memtree.cli.help import command_help

        print(command_help(command), end="")
        return FOUND
    return command.run(values)


def guarded(program: str, action: Callable[[], int]) -> int:
    """Run an action; a user's mistake becomes a message and a status, never a traceback."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by the caller (`>&-`): what is printed goes nowhere.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A file name or a terminal that can't take a character must not end the command.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = action()
        sys.stdout.flush()
        return status
    except UsageError as error:
        return _failed(f"{program}: {error.message}", error.hint and f"try: {error.hint}")
    except MemtreeError as error:
        where = "" if error.path is None else f"{error.path}:"
        where += "" if error.line is None else f"{error.line}:"
        return _failed(f"{where or program + ':'} {error.message}", error.remedy)
    except BrokenPipeError:
        # The reader has gone; keep Python from complaining when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _failed(f"{program}: {error.filename or 'input or output'}: {error.strerror or error}", None)


def _failed(message, remedy):
    """Say what is wrong, and what to do about it on a line of its own."""
    from memtree.cli.output import printable

    sys.stdout.flush()
    print(printable(message), file=sys.stderr)
    if remedy:
        print(f"  {printable(remedy)}", file=sys.stderr)
    return FAILED


def exit_with(status: int) -> None:
    """End the process, at once where nothing wants to be cleaned up: that saves a short command 2 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        status = status or FAILED
    if "atexit" in sys.modules:
        sys.exit(status)
    os._exit(status)


def script() -> None:
    """Entry point of the installed command."""
    exit_with(main())
