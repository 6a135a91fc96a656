"""``python -m memtree``."""

from memtree.cli.main import script

script()
