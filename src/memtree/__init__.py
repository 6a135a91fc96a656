"""memtree: exact, explainable recall over a folder of Markdown notes."""

__version__ = "0.1.0"
