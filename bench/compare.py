"""memtree.BM25 and its peers on the same tokenised collections: times, ratios, sizes, agreement, growth.

    python bench/compare.py                                   # 10^3, 10^4, 10^5 documents and the verses
    python bench/compare.py --sizes 1000000 8000000           # hours, 20 GB of memory, 40 GB of disk
    python bench/compare.py --engines memtree tantivy pisa
    python bench/compare.py --sizes --plot docs/compare.svg   # measures nothing: tables and plot of what was measured

For each collection the engines build one after the other; then all search, each in its own process, in turns, so that
what slows the machine slows all of them. Times are per query, from a list of words to the 10 best.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import engines
import report
from collection import VERSES, Collection, collection
from engines import Failed, Worker
from timing import machine

SIZES = ("1000", "10000", VERSES, "100000")
CACHE = Path(__file__).parent.parent / ".benchmarks" / "compare"
N_AGREE = 100
OURS = "memtree"


def built(of: Collection, names: list[str], cache: Path) -> None:
    """Build what is kept from run to run, so that a later run only has to search."""
    for name in names:
        engine = engines.make(name)
        if name != OURS and not engine.in_memory and not engines.unfit(engine, of.n_docs):
            say(f"{of.name}: {name}")
            try:
                started(engine, of, cache)[0].__exit__()
            except Failed as failed:
                say(f"without {name}: {failed}")


def compared(of: Collection, names: list[str], cache: Path, n_queries: int, rounds: int, budget: float) -> dict:
    """Build and time the engines on one collection.

    Parameters
    ----------
    budget : float
        Seconds of searching after which an engine takes no further part.

    Returns
    -------
    dict
        What `report` reads.
    """
    queries = of.queries[:n_queries]
    result = {
        "n_docs": of.n_docs,
        "n_postings": of.n_postings,
        "touched": of.touched[:n_queries],
        "engines": {},
        "left_out": {},
    }
    workers: dict[str, Worker] = {}
    try:
        for name in names:
            engine = engines.make(name)
            try:
                reason = engines.unfit(engine, of.n_docs)
                if reason:
                    raise Failed(reason)
                say(f"{of.name}: {name}")
                workers[name], result["engines"][name] = started(engine, of, cache)
                done, resident, note = workers[name].call("warm", of.queries, budget)
                result["engines"][name] |= {"warmed": done, "resident": resident, "note": note, "ns": []}
            except Failed as failed:
                stop(workers, result, name, str(failed))
        time_in_turns(workers, result, queries, rounds, budget)
        agree(workers, result, queries[:N_AGREE])
    finally:
        for worker in workers.values():
            worker.__exit__()
    return result


def started(engine: engines.Base, of: Collection, cache: Path) -> tuple[Worker, dict]:
    """A process that is ready to search, after building if that was not done before."""
    folder = cache / "indexes" / of.name / (engine.index_of or engine.name)
    facts = folder.with_suffix(".json")
    version = engines.version(engine)
    known = json.loads(facts.read_text()) if facts.exists() else {}
    # Ours is built in every run, as its version does not tell its code; so is what is not opened from its files.
    if known.get("version") != version or engine.in_memory or engine.name == OURS:
        builder = Worker(engine.name)
        seconds, size = builder.call("build", of.folder, folder)
        facts.write_text(json.dumps({"version": version, "build": seconds, "size": size}))
        if engine.in_memory:
            builder.call("open", folder)
            return builder, json.loads(facts.read_text())
        builder.__exit__()
    worker = Worker(engine.name)
    worker.call("open", folder)
    return worker, json.loads(facts.read_text())


def time_in_turns(workers, result, queries, rounds, budget) -> None:
    """Let all engines answer all queries in turns; a query's time is its median over the rounds."""
    left = dict.fromkeys(workers, budget)
    times: dict[str, list[list[int]]] = {name: [[] for _ in queries] for name in workers}
    for number in range(rounds):
        # Neither is always the same engine the first, nor the same query after a pause.
        for name in rotated(list(workers), number):
            try:
                taken = workers[name].call("time", rotated(queries, 2 * number), left[name])
            except Failed as failed:
                stop(workers, result, name, str(failed))
                continue
            left[name] -= sum(taken) / 1e9
            for ns, of_query in zip(taken, rotated(times[name], 2 * number), strict=False):
                of_query.append(ns)
        say(f"round {number + 1} of {rounds}")
    for name, worker in workers.items():
        found = result["engines"][name]
        found["ns"] = [sorted(of_query)[len(of_query) // 2] for of_query in times[name] if of_query]
        found["rounds"] = min(map(len, times[name])) or 1
        asked = queries[: len(found["ns"])]
        found["batch_ns"] = min(filter(None, (worker.call("time_batch", asked) for _ in range(3))), default=None)


def rotated(items: list, by: int) -> list:
    """The items in their order, another one first."""
    by %= len(items)
    return items[by:] + items[:by]


def agree(workers, result, queries) -> None:
    """Compare the hits of each engine with ours: how many are the same, and how far scores are off."""
    if OURS not in workers:
        return
    ours = workers[OURS].call("hits", queries)
    for name, worker in workers.items():
        found = result["engines"][name]
        asked = queries[: len(found["ns"])]
        same, off = [], 0.0
        for (ids, scores), (their_ids, their_scores) in zip(ours, worker.call("hits", asked), strict=False):
            same.append(len(set(ids) & set(their_ids)) / max(len(ids), 1))
            pairs = zip(scores, their_scores, strict=False)
            off = max([off, *(abs(theirs / score - 1) for score, theirs in pairs)])
            off = max(off, float(len(scores) != len(their_scores)))
        found["same_hits"] = sum(same) / len(same)
        found["scores_off"] = off


def stop(workers, result, name, reason) -> None:
    """Leave an engine out of the rest."""
    worker = workers.pop(name, None)
    if worker is not None:
        worker.__exit__()
    result["engines"].pop(name, None)
    result["left_out"][name] = reason
    say(f"without {name}: {reason}")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    """Measure, save, print; exit status 1 if scores that must be equal are not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sizes", nargs="*", default=SIZES, help=f"numbers of documents, or {VERSES}")
    parser.add_argument("--engines", nargs="+", default=engines.NAMES, choices=engines.NAMES, metavar="NAME")
    parser.add_argument("--build", action="store_true", help="only build the peers' indexes, for a run to come")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds of searching for one engine and size")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of collections and indexes")
    parser.add_argument("--json", type=Path, help="results, which are added to those already there")
    parser.add_argument("--plot", type=Path, help="SVG of queries a second over collection size")
    options = parser.parse_args(argv)
    file = options.json or options.cache / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(file.read_text()) if file.exists() else {}
    for size in options.sizes:
        of = collection(size, options.cache / "collections")
        if options.build:
            built(of, options.engines, options.cache)
            continue
        results[size] = {
            "machine": machine(),
            **compared(of, options.engines, options.cache, options.queries, options.rounds, options.budget),
        }
        file.write_text(json.dumps(results))
    if options.build:
        return 0
    for size in options.sizes or results:
        print(report.tables(size, results[size]))
    print(report.summary(results))
    print(report.growth(results))
    if options.plot:
        import plot

        plot.save(results, options.plot)
    wrong = [size for size in options.sizes if not report.scores_agree(results[size])]
    if wrong:
        say(f"scores differ from those of bm25s: {', '.join(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
