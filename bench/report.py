"""Tables of what `compare.py` has measured, as Markdown."""

from __future__ import annotations

import math
import statistics
from statistics import median

OURS, SCAN = "memtree", "memtree-scan"
# Times as fast as a peer that memtree has to be: (peer, collection) to ratio.
LINES = {
    ("bm25s-numba", "100000"): 3,
    ("bm25s-numba", "1000000"): 8,
    ("bm25s-numba", "8000000"): 8,
    ("tantivy", "1000000"): 10,
    ("bm25-turbo", "100000"): 10,
    ("bm25-turbo", "1000000"): 10,
    ("pisa", "1000000"): 2,
    ("pisa", "8000000"): 2,
    **{("fts5", size): 50 for size in ("100000", "1000000", "8000000")},
}
SAME_FORMULA = ("memtree-scan", "bm25s-numpy", "bm25s-numba", "bm25-turbo")
KINDS = {"rare": slice(0, None, 2), "frequent": slice(1, None, 2), "mix": slice(None)}


def ratios(result: dict, name: str, kind: str = "mix") -> list[float]:
    """Time of a peer divided by ours, for each query that it answered."""
    ours, theirs = result["engines"][OURS]["ns"], result["engines"][name]["ns"]
    return [peer / own for own, peer in zip(ours, theirs, strict=False)][KINDS[kind]]


def ratio_of_means(result: dict, name: str, kind: str = "mix") -> float:
    """Time of a peer for all queries that it answered, divided by ours for the same."""
    theirs = result["engines"][name]["ns"]
    ours = result["engines"][OURS]["ns"][: len(theirs)]
    return sum(theirs[KINDS[kind]]) / sum(ours[KINDS[kind]])


def tables(size: str, result: dict) -> str:
    """What was measured on one collection."""
    found = result["engines"]
    lines = [
        f"\n## {result['n_docs']:,} documents ({size}), {result['n_postings']:,} postings",
        "",
        f"{result['machine']}. Times are us a query, median / mean; `x` is the time divided by memtree's:",
        "median of that of each query / ratio of the means.",
        "",
        "| engine | rare words | x | frequent words | x | mix | x | batch | queries x rounds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, engine in found.items():
        cells = [" ".join(filter(None, [name, engine["version"], f"({engine['note']})" if engine["note"] else ""]))]
        for kind, part in KINDS.items():
            us = [ns / 1000 for ns in engine["ns"]][part]
            cells.append(f"{digits(median(us))} / {digits(statistics.mean(us))}")
            if OURS in found:
                of_medians = digits(median(ratios(result, name, kind)))
                cells.append(f"{of_medians} / {digits(ratio_of_means(result, name, kind))}")
            else:
                cells.append("")
        cells.append(digits(engine["batch_ns"] / 1000) if engine["batch_ns"] else "")
        cells.append(f"{len(engine['ns'])} x {engine['rounds']}")
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "| engine | build s | x | bytes a posting on disk | in memory after | queries | same 10 hits | scores off |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, engine in found.items():
        built = engine["build"] / found[OURS]["build"] if OURS in found else math.nan
        cells = [
            name,
            digits(engine["build"]),
            digits(built),
            f"{engine['size'] / result['n_postings']:.2f}" if engine["size"] else "",
            f"{engine['resident'] / 1e6:,.0f} MB, {engine['resident'] / result['n_postings']:.2f} a posting",
            f"{engine['warmed']:,}",
            f"{engine['same_hits']:.1%}" if "same_hits" in engine else "",
            f"{engine['scores_off']:.1e}" if name in SAME_FORMULA else "other formula" if name != OURS else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [f"\nWithout {name}: {reason}." for name, reason in result["left_out"].items()]
    lines += verdicts(size, result)
    return "\n".join(lines)


def verdicts(size: str, result: dict) -> list[str]:
    """Each line that memtree has to reach on this collection, and what it reaches."""
    rows = []
    for (name, of_size), wanted in LINES.items():
        if of_size != size or not {name, OURS} <= result["engines"].keys():
            continue
        reached = median(ratios(result, name))
        mark = "reached" if reached >= wanted else "MISSED"
        rows.append(f"| {name} | {wanted} | {digits(reached)} | {digits(ratio_of_means(result, name))} | {mark} |")
    if not rows:
        return []
    return ["", "| against | wanted | median ratio | ratio of means | |", "|---|--:|--:|--:|---|", *rows]


def scores_agree(result: dict) -> bool:
    """Whether engines of the same formula gave the same scores, to float32 precision."""
    return all(engine.get("scores_off", 0) < 1e-4 for name, engine in result["engines"].items() if name in SAME_FORMULA)


def summary(results: dict) -> str:
    """Ratios of all collections over the whole mix, a column a collection."""
    grown = sorted(
        ((size, result) for size, result in results.items() if OURS in result["engines"]),
        key=lambda pair: pair[1]["n_docs"],
    )
    names = dict.fromkeys(name for _, result in grown for name in result["engines"])
    lines = [
        "\n## Times of memtree's, whole mix: median ratio / ratio of means",
        "",
        f"| engine | {' | '.join(size for size, _ in grown)} |",
        f"|---|{'--:|' * len(grown)}",
    ]
    for name in names:
        cells = [
            f"{digits(median(ratios(result, name)))} / {digits(ratio_of_means(result, name))}"
            if name in result["engines"]
            else "-"
            for _, result in grown
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def growth(results: dict) -> str:
    """Time of a query against the postings of its words, as collections grow."""
    grown = sorted(
        (result for size, result in results.items() if size.isdigit() and OURS in result["engines"]),
        key=lambda result: result["n_docs"],
    )
    grown = [result for result in grown if result["n_docs"] >= 10_000]
    if len(grown) < 2:
        return ""
    lines = [
        "\n## Growth",
        "",
        "| documents | rare words: postings | us | scan | frequent words: postings | us | scan | ns a posting | scan |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    points = []
    for result in grown:
        cells = [f"{result['n_docs']:,}"]
        for kind in ("rare", "frequent"):
            part = KINDS[kind]
            postings = median(result["touched"][part])
            us = [median(engine["ns"][part]) / 1000 if engine else math.nan for engine in sides(result)]
            cells += [f"{postings:,.0f}", digits(us[0]), digits(us[1])]
        cells += [digits(us[0] * 1000 / postings), digits(us[1] * 1000 / postings)]
        points.append((postings, *us))
        lines.append(f"| {' | '.join(cells)} |")
    (first, own, scan), (last, own_last, scan_last) = points[0], points[-1]
    slope = math.log(own_last / own) / math.log(last / first)
    lines += [
        "",
        f"While the postings of a query with frequent words grow {digits(last / first)} times, its time grows "
        f"{digits(own_last / own)} times (that of the full scan {digits(scan_last / scan)} times), as their power of "
        f"{slope:.2f}: what grows in proportion is left out, windows of documents and whole lists whose largest "
        "impacts can't reach the 10th best score, and that score rises with the collection.",
    ]
    return "\n".join(lines)


def sides(result: dict) -> list[dict | None]:
    return [result["engines"].get(OURS), result["engines"].get(SCAN)]


def digits(number: float) -> str:
    """Three significant digits, or all before the point."""
    if not math.isfinite(number) or number == 0:
        return "-" if number else "0"
    return f"{number:,.{max(0, 2 - math.floor(math.log10(abs(number))))}f}"
