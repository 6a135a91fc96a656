"""``memtree recall``: find the notes that answer a question."""

from __future__ import annotations

import sys

from memtree.cli.options import (
    BANK,
    COLOR,
    JSON,
    LOGS,
    MODE,
    Argument,
    Command,
    Option,
    UsageError,
    day,
    natural,
    text,
)
from memtree.cli.output import Paint, count, print_json, printable, span, warn
from memtree.cli.places import named, open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree._answers import Recall
    from memtree._recall import Hit
    from memtree.bank import Bank
    from memtree.cli.options import Values

SHOWN_LINES = 12
"""Lines of a passage that are printed; JSON has them all."""


def ask(bank: Bank, values: Values) -> Recall:
    """Recall with the given options; what the bank refuses is a wrong call."""
    try:
        return bank.recall(
            values.query,
            values.limit,
            under=values.under and named(bank, values.under),
            since=values.since,
            until=values.until,
            passages=values.passages,
        )
    except ValueError as error:
        raise UsageError(str(error), "memtree help recall") from None


def verdict(answer: Recall) -> str:
    """What to tell first when the bank does not seem to know, else nothing."""
    if answer.answerable:
        return ""
    if answer.hits:
        return (
            f"The bank does not seem to know this (coverage {answer.coverage:.2f}); "
            f"nearest {'note' if len(answer.hits) == 1 else 'notes'}:"
        )
    return f"Nothing found{': ' + answer.note if answer.note else ''}."


def _passage(path, passage, terms, paint):
    """Lines of a passage: where it stands, and its text."""
    first, last = passage.lines
    heading = " > ".join(passage.heading_path)
    place = f"{printable(path)}:{span(first, last)}"
    where = paint("path", place)
    yield f"   {where}  {paint('dim', printable(heading))}".rstrip()
    lines = printable(passage.text).strip("\n").split("\n")
    for line in lines[:SHOWN_LINES]:
        yield f"     {paint.matches(line, terms)}".rstrip()
    if len(lines) > SHOWN_LINES:
        yield paint(
            "dim", f"     ... {len(lines) - SHOWN_LINES} more lines: memtree get {place}"
        )


def _hit(rank: int, hit: Hit, paint: Paint):
    """Lines of a hit: its path and scores, then its passages."""
    # A verb's stem ends in a mark, so that it is no noun.
    terms = [term.rstrip("~") for term in hit.terms]
    parts = f"tree {hit.tree:.4f}  bm25 {hit.bm25:.4f}"
    matched = f"  matched {' '.join(dict.fromkeys(terms))}" if terms else ""
    yield (
        f"{rank}. {paint('path', printable(hit.path))}  {paint('score', f'{hit.score:.4f}')}  "
        + paint("dim", printable(parts + matched))
    )
    for passage in hit.passages:
        yield from _passage(hit.path, passage, terms, paint)


def render(answer: Recall, paint: Paint) -> str:
    """The answer as text for people."""
    lines = []
    told = verdict(answer)
    if told:
        lines.append(paint("warning", told))
    for rank, hit in enumerate(answer.hits, 1):
        if lines:
            lines.append("")
        lines += _hit(rank, hit, paint)
    return "\n".join(lines)


def run(values: Values) -> int:
    """Print the answer; status 1 if the bank does not seem to know."""
    bank = open_bank(values)
    answer = ask(bank, values)
    if values.json:
        print_json(answer.to_dict())
    else:
        print(render(answer, Paint(values.color)))
    sys.stdout.flush()
    if bank.problems:
        warn(f"{count(len(bank.problems), 'problem')} with files of the bank: memtree status")
    from memtree.buffer import Buffer

    # Only now: the answer does not wait for it.
    Buffer(bank.workspace.recall, bank.settings.buffer_seconds).write(answer)
    return 0 if answer.answerable else 1


COMMAND = Command(
    "memtree recall",
    "find the notes that answer a question",
    run,
    arguments=[Argument("query", "the question, in plain words of any language", kind=text, many=True)],
    options=[
        BANK,
        Option(
            "-k",
            "-n",
            "--limit",
            metavar="N",
            kind=natural,
            default=5,
            help="most files to show (default: 5)",
        ),
        Option("--passages", metavar="N", kind=natural, default=3, help="most passages a file (default: 3)"),
        Option("--under", metavar="FOLDER", help="only files in this folder of the bank"),
        Option("--since", metavar="DATE", kind=day, help="only files of this day and later, like 2026-01-31"),
        Option("--until", metavar="DATE", kind=day, help="only files of this day and earlier"),
        LOGS,
        MODE,
        JSON,
        COLOR,
    ],
    examples=[
        ('memtree recall "가치관이 뭐야?"', "search the bank that the current folder is in"),
        ("memtree recall backup schedule --under knowledge -k 3", "three files of one folder"),
        ('memtree recall "회의 언제였지" --logs --since 2026-01-01', "look into the daily logs too"),
    ],
    notes="Exit status 1 when nothing is found or the bank does not seem to know; that is said first,\n"
    "and the nearest notes follow all the same.",
)
