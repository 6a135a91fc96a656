"""Scanner: text to surfaces. C interface in `_text.pxd`; here what Python sees of it."""

from collections.abc import Iterable

from typing_extensions import Self

class PrefixTrie:
    @property
    def keywords(self) -> tuple[str, ...]: ...
    def __new__(cls, keywords: Iterable[str]) -> Self: ...
    def first(self, token: str) -> str | None: ...
