"""Index build from nothing, against the splitting and normalising of the pure-Python script.

Mixed Korean and English notes, grown from the example bank by a seed (``corpora.Grower``). memtree reads,
parses, analyses and writes the whole index; the script's side is only the split at ``\\w+`` and its loop over
the keywords of the example bank, on the first megabyte of the same notes.

    python bench/test_build.py [--megabytes 50]
    python -m pytest bench/test_build.py -p benchmark      # 5 MB
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import pytest

from memtree import Bank

sys.path.insert(0, str(Path(__file__).parent))
import corpora
from baseline import Baseline, Tightened, markdown_files
from timing import machine, shown

MEGABYTE = 1_000_000


def build(folder: Path) -> Bank:
    """Build the index from nothing."""
    shutil.rmtree(folder / ".memtree", ignore_errors=True)
    bank = Bank(str(folder))
    bank.refresh(rebuild=True)
    return bank


def sample(folder: Path, n_bytes: int = MEGABYTE) -> str:
    """The first notes, about a megabyte of them."""
    parts, size = [], 0
    for text in markdown_files(str(folder)).values():
        parts.append(text)
        size += len(text.encode())
        if size >= n_bytes:
            break
    return "\n".join(parts)


@pytest.fixture(scope="module")
def notes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes")
    corpora.write_bank(folder, 5 * MEGABYTE)
    return folder


@pytest.mark.benchmark(group="index-build")
def test_memtree(benchmark, notes):
    benchmark.extra_info["megabytes"] = 5
    benchmark.pedantic(build, (notes,), rounds=3)


@pytest.mark.benchmark(group="index-build")
@pytest.mark.parametrize("kind", [Baseline, Tightened])
def test_script(benchmark, notes, kind):
    benchmark.extra_info["megabytes"] = 0.1
    script = kind(str(corpora.BANK))
    benchmark.pedantic(script.split_and_normalise, (sample(notes, MEGABYTE // 10),), rounds=3)


def main() -> None:
    """Print megabytes a second of both sides and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        size = corpora.write_bank(folder, int(options.megabytes * MEGABYTE))
        begun = perf_counter()
        bank = build(folder)
        ours = perf_counter() - begun
        status = bank.status()
        text = sample(folder)
    rate = size / MEGABYTE / ours
    print(f"{size / MEGABYTE:.0f} MB in {status['files']} files, {status['terms']} terms; {machine()}")
    print(f"whole index: {shown(ours)}, {rate:.2f} MB/s")
    for kind in (Baseline, Tightened):
        script = kind(str(corpora.BANK))
        begun = perf_counter()
        script.split_and_normalise(text)
        theirs = len(text.encode()) / MEGABYTE / (perf_counter() - begun)
        print(f"{kind.__name__} splits and normalises {theirs:.4f} MB/s; ratio {rate / theirs:.1f}")


if __name__ == "__main__":
    main()
