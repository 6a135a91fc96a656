"""Rows of surfaces and of terms, in compressed form."""

from array import array
from collections.abc import Iterable, Sequence

from typing_extensions import Buffer

def indptr_of(lengths: Buffer) -> array[int]: ...
def count_values(rows: Iterable[Buffer], n: int) -> array[int]: ...
def join_rows(
    indptr: Buffer, data: Buffer, out_indptr: Buffer, members: Buffer
) -> tuple[array[int], array[int]]: ...
def telling_columns(
    indptr: Buffer, columns: Buffer, df: Buffer, n_columns: int, groups: Sequence[tuple[int, int]], k: int
) -> list[list[int]]: ...
