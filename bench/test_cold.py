"""``memtree recall`` as a whole process, on a built bank, against a Python that does nothing.

Measured in a fresh virtual environment that holds memtree and its dependencies only.

    python bench/test_cold.py                # makes such an environment, prints both times and their ratio
    python bench/test_cold.py --venv DIR     # uses one that has memtree installed
    python -m pytest bench/test_cold.py -p benchmark
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import corpora
from timing import machine, shown

QUESTION = "가치관이 뭐야?"


def make_environment(folder: Path) -> Path:
    """A virtual environment with memtree installed."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, corpora.ROOT], check=True)
    return folder


def commands(environment: Path, folder: Path) -> dict[str, list]:
    """The two processes to compare, on a bank that is built."""
    bank = folder / "bank"
    shutil.copytree(corpora.BANK, bank, ignore=shutil.ignore_patterns(".memtree", "recall"))
    memtree = environment / "bin" / "memtree"
    subprocess.run([memtree, "index", "--bank", folder], check=True, capture_output=True)
    recall = [memtree, "recall", QUESTION, "--bank", folder]
    answer = subprocess.run(recall, check=True, capture_output=True, encoding="utf-8").stdout
    assert answer.startswith("1. identity/values.md"), answer
    return {"memtree recall": recall, "python -c pass": [environment / "bin" / "python", "-c", "pass"]}


def process(command: list) -> None:
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cold")
    return commands(make_environment(folder / "venv"), folder / "workspace")


@pytest.mark.benchmark(group="cold")
@pytest.mark.parametrize("name", ["memtree recall", "python -c pass"])
def test_cold(benchmark, pair, name):
    benchmark.pedantic(process, (pair[name],), rounds=40, warmup_rounds=3)


def main() -> None:
    """Print the times of both processes, by turns, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", type=Path, help="environment with memtree installed (default: a new one)")
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        pair = commands(options.venv or make_environment(folder / "venv"), folder / "workspace")
        times: dict[str, list[float]] = {name: [] for name in pair}
        for _ in range(options.rounds):
            for name, command in pair.items():
                begun = perf_counter()
                process(command)
                times[name].append(perf_counter() - begun)
    middle = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"median of {options.rounds} by turns; {machine()}")
    for name, seconds in middle.items():
        print(f"{name}: {shown(seconds)}")
    print(f"ratio: {middle['memtree recall'] / middle['python -c pass']:.2f}")


if __name__ == "__main__":
    main()
