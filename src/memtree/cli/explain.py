"""``memtree explain``: take the score of one file for a question apart."""

from __future__ import annotations

from memtree.cli.options import BANK, COLOR, JSON, LOGS, MODE, Argument, Command, text
from memtree.cli.output import Paint, print_json, printable, span, width
from memtree.cli.places import named, open_bank

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.cli.options import Values
    from memtree.explain import Explanation, Part

FIELDS = {"s": "words", "b": "syllable pairs"}


def _table(parts: list[Part], paint: Paint):
    """A line a part: what it adds, and from what."""
    column = max(width(part.term) for part in parts)
    for part in parts:
        numbers = f"weight {part.weight:.2f}  idf {part.idf:.4f}"
        if part.source != "tree":
            numbers += f"  impact {part.impact:.4f}  ({FIELDS.get(part.field, part.field)})"
        gap = " " * (column - width(part.term))
        yield f"    {part.value:+.4f}  {printable(part.term)}{gap}  {paint('dim', numbers)}"


def render(found: Explanation, paint: Paint) -> str:
    """The explanation as text for people: the parts add up to the score."""
    lines = [f"{paint('path', printable(found.path))}  {paint('score', f'{found.score:.4f}')}"]
    titles = {
        "tree": f"tree {found.tree:.4f}" + (f", node {printable(found.node)}" if found.node else ""),
        "file": f"bm25 {found.bm25:.4f}, half of it from the file as one document",
        "passage": "and half from its best passage"
        + (f", line{'s' * (found.lines[0] < found.lines[1])} {span(*found.lines)}" if found.lines else ""),
    }
    for source, title in titles.items():
        parts = [part for part in found.parts if part.source == source]
        total = sum(part.value for part in parts)
        lines.append(f"  {total:+.4f}  {title}")
        if parts:
            lines += _table(parts, paint)
    if found.missing:
        lines.append(f"  not in the file: {printable(', '.join(found.missing))}")
    return "\n".join(lines)


def run(values: Values) -> int:
    """Print the parts of the score; status 1 if it is nothing."""
    bank = open_bank(values)
    found = bank.explain(values.query, named(bank, values.path))
    if values.json:
        print_json(found.to_dict())
    else:
        print(render(found, Paint(values.color)))
    return 0 if found.score else 1


COMMAND = Command(
    "memtree explain",
    "show why a file has its score for a question",
    run,
    arguments=[
        Argument("query", "the question, in quotes", kind=text),
        Argument("path", "the file, as recall prints it", kind=text),
    ],
    options=[BANK, LOGS, MODE, JSON, COLOR],
    examples=[('memtree explain "가치관이 뭐야?" identity/values.md', "each word's part of the score")],
)
