"""Plot of what `compare.py` has measured: queries a second over collection size, a line an engine."""

from __future__ import annotations

import statistics
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

OURS = "memtree"


def save(results: dict, path: Path) -> None:
    """Write the plot of all generated collections as SVG, the same bytes for the same results."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for size, result in results.items():
        if size.isdigit():
            for name, engine in result["engines"].items():
                lines.setdefault(name, []).append((result["n_docs"], 1e9 / statistics.mean(engine["ns"])))
    with plt.rc_context({"svg.hashsalt": "memtree", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
        for name, points in lines.items():
            n_docs, speed = zip(*sorted(points), strict=True)
            ours = name == OURS
            width, above = (2.6, 3) if ours else (1.1, 2)
            axes.loglog(n_docs, speed, marker="o", markersize=3.5, linewidth=width, zorder=above)
            axes.annotate(
                name, (n_docs[-1], speed[-1]), (6, 0), textcoords="offset points", va="center",
                color=axes.lines[-1].get_color(), weight="bold" if ours else "normal",
            )
        axes.set(
            xlabel="documents of 55 tokens", ylabel="queries a second, one thread",
            title="Top 10 by BM25, half of the queries rare words, half with frequent ones",
        )
        axes.grid(True, which="major", alpha=0.3)
        axes.margins(x=0.16)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
