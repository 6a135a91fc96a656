"""Timing of two or more sides in one process, by turns, so that what slows the machine slows all of them."""

from __future__ import annotations

import gc
import platform
import statistics
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter_ns


def interleaved(sides: Mapping[str, Callable], inputs: Sequence, rounds: int) -> dict[str, float]:
    """Time each side on every input, round by round.

    Parameters
    ----------
    sides : mapping of str to callable
        What to time; called with one input.
    inputs : sequence
    rounds : int
        A side's time for an input is its median over the rounds.

    Returns
    -------
    dict of str to float
        Seconds: the median over the inputs.
    """
    times = {name: [[] for _ in inputs] for name in sides}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for name, side in sides.items():
                for taken, value in zip(times[name], inputs, strict=True):
                    begun = perf_counter_ns()
                    side(value)
                    taken.append(perf_counter_ns() - begun)
    finally:
        gc.enable()
    return {
        name: statistics.median(statistics.median(taken) for taken in per_input) / 1e9
        for name, per_input in times.items()
    }


def shown(seconds: float) -> str:
    """A time with a fitting unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def machine() -> str:
    """What a figure was measured on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{model}, Python {platform.python_version()}"
