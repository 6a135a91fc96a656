"""Changes of an index of token lists, drawn by hypothesis and followed in a dict of id to tokens."""

from hypothesis import strategies as st

WORDS = ["회의", "도구", "cat", "dog", "가치관", "날씨", "b", "c"]
documents_of_words = st.lists(st.sampled_from(WORDS), max_size=6)
kinds = st.sampled_from(["add", "add", "remove", "update", "compact"])


def changes(most):
    """Up to `most` of (kind, number that tells the document, tokens)."""
    return st.lists(st.tuples(kinds, st.integers(0, 30), documents_of_words), max_size=most)


def change(index, documents, kind, number, tokens):
    """Add, remove or update a document in both."""
    if kind == "add":
        (new,) = index.add([tokens])
        documents[int(new)] = tokens
    elif documents:
        doc = sorted(documents)[number % len(documents)]
        if kind == "remove":
            index.remove([doc])
            del documents[doc]
        else:
            index.update(doc, tokens)
            documents[doc] = tokens
