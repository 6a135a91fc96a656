"""Plot of what `compare.py` has measured: queries a second over collection size, a line an engine."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

OURS, SCAN = "memtree", "memtree-scan"
STYLES = {
    OURS: {"color": "black", "linewidth": 2.6, "zorder": 3},
    SCAN: {"color": "black", "linewidth": 1.1, "linestyle": "--"},
}
LABEL_GAP = 0.17  # least distance of two names at the ends of lines, in powers of ten


def save(results: dict, path: Path) -> None:
    """Write the plot of all generated collections as SVG, the same bytes for the same results."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for size, result in results.items():
        if size.isdigit():
            for name, engine in result["engines"].items():
                lines.setdefault(name, []).append((result["n_docs"], 1e9 / statistics.mean(engine["ns"])))
    with plt.rc_context({"svg.hashsalt": OURS, "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
        ends = []
        for name, points in lines.items():
            n_docs, speed = zip(*sorted(points), strict=True)
            style = {"marker": "o", "markersize": 3.5, "linewidth": 1.1, **STYLES.get(name, {})}
            (line,) = axes.loglog(n_docs, speed, **style)
            ends.append((n_docs[-1], math.log10(speed[-1]), name, line.get_color()))
        last, below = 0, math.inf
        for n_docs, log_speed, name, color in sorted(ends, key=lambda end: (end[0], -end[1])):
            below = log_speed if n_docs != last else min(log_speed, below - LABEL_GAP)
            last = n_docs
            weight = "bold" if name == OURS else "normal"
            place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate(name, (n_docs, 10**below), color=color, weight=weight, **place)
        axes.set(
            xlabel="documents of 55 tokens",
            ylabel="queries a second, one thread",
            title="Top 10 by BM25: half of the queries rare words, half with frequent ones",
        )
        axes.grid(True, which="major", alpha=0.3)
        axes.set_xlim(right=axes.get_xlim()[1] * 5)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
