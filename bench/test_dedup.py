"""Fuzzy dedup: new items into a bank of items, candidates through the index against comparing all pairs.

    python bench/test_dedup.py             # 10,000 into 10,000, and their ratio
    python -m pytest bench/test_dedup.py -p benchmark

Both sides take an item apart and compare two items by the very same code. All pairs are compared for a sample of the
new items only, spread evenly, as all of them would take hours; each side's time is that of one item.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import perf_counter

import pytest

from memtree.dedup import Deduper
from memtree.items import Item

sys.path.insert(0, str(Path(__file__).parent))
from timing import machine, shown

SIZE = 10_000
SAMPLE = 20
SUBJECTS = "백업 결제 검색 회의 배포 문서 서버 캐시 알림 번역 예약 장비 커피 운동 독서 산책 여행".split()
PLACES = "서울 부산 대전 광주 제주 강릉 전주 여수 춘천 경주 사무실 창고 옥상 주방 서재 현관".split()
VERBS = "정리한다 확인한다 보관한다 기록한다 점검한다 옮긴다 고친다 나눈다 모은다 알린다".split()
ENGLISH = "printer release invoice garden laptop parser meeting ticket budget sensor bicycle recipe museum".split()


def items(n: int, seed: int) -> list[Item]:
    """Facts in two languages that share subjects, places and verbs."""
    chance = random.Random(seed)
    made = []
    for _ in range(n):
        subject, place, other = chance.choice(SUBJECTS), chance.choice(PLACES), chance.choice(SUBJECTS)
        word, number = chance.choice(ENGLISH), chance.randrange(1, 100)
        if chance.random() < 0.7:
            text = f"{subject} 담당은 {place}에서 {other} 자료 {number}건을 {word}에 {chance.choice(VERBS)}"
        else:
            near, until = chance.choice(ENGLISH), chance.choice(ENGLISH)
            text = f"the {word} near {near} needs {number} parts before the {until} closes"
        made.append(Item("W", text, date="2026-03-02"))
    return made


@pytest.mark.benchmark(group="dedup")
@pytest.mark.parametrize("way", ["decide", "decide_by_all_pairs"])
def test_dedup(benchmark, way):
    deduper, new = Deduper(items(1_000, 1)), items(20, 2)
    benchmark(lambda: [getattr(deduper, way)(item) for item in new])


def main() -> None:
    """Print the time of an item either way, their ratio, and how often they decide alike."""
    begun = perf_counter()
    deduper, new = Deduper(items(SIZE, 1)), items(SIZE, 2)
    built = perf_counter() - begun
    sample = new[:: SIZE // SAMPLE]
    begun = perf_counter()
    by_index = [deduper.decide(item) for item in new]
    index_time = (perf_counter() - begun) / len(new)
    by_index = by_index[:: SIZE // SAMPLE]
    begun = perf_counter()
    by_pairs = [deduper.decide_by_all_pairs(item) for item in sample]
    pairs_time = (perf_counter() - begun) / len(sample)
    alike = sum(one.kind == other.kind for one, other in zip(by_index, by_pairs, strict=True))
    print(f"{SIZE:,} items into {SIZE:,}; {machine()}")
    print(f"take in the bank's:  {shown(built)}")
    print(f"through the index:   {shown(index_time)} an item, {shown(index_time * SIZE)} in all")
    print(f"all pairs:           {shown(pairs_time)} an item ({len(sample)} items), "
          f"{pairs_time / index_time:.0f} times that")
    print(f"the same decision:   {alike} of {len(sample)}")


if __name__ == "__main__":
    main()
