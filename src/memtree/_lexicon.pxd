"""What the scoring of a bank needs of a lexicon."""

from memtree._vocabulary cimport NO_TERM, Query, QueryTerm, QueryWord
