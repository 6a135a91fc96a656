"""memtree: exact, explainable recall over a folder of Markdown notes.

``Bank`` answers questions from such a folder; ``BM25`` is its ranking core for any collection. Names are imported
when first used, so that ``import memtree`` costs next to nothing.
"""

__version__ = "0.1.0"
__all__ = ["BM25", "Bank", "Hit", "MemtreeError", "Recall", "__version__"]

_HOMES = {"BM25": "memtree.bm25", "Bank": "memtree.bank", "Hit": "memtree._recall", "MemtreeError": "memtree.errors",
          "Recall": "memtree._answers"}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree._answers import Recall
    from memtree._recall import Hit
    from memtree.bank import Bank
    from memtree.bm25 import BM25
    from memtree.errors import MemtreeError


def __getattr__(name):
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'memtree' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})
