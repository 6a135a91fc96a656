"""SQLite's FTS5, without the text itself; its bm25() needs the positions."""

from __future__ import annotations

import sqlite3

from engines import Base, Clock, K

FILE = "index.sqlite"
SEARCH = f"SELECT rowid, bm25(docs) FROM docs WHERE docs MATCH ? ORDER BY bm25(docs) LIMIT {K}"


class Engine(Base):
    def build(self, collection, folder):
        (folder / FILE).unlink(missing_ok=True)
        db = sqlite3.connect(folder / FILE)
        db.execute("PRAGMA journal_mode = OFF")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("CREATE VIRTUAL TABLE docs USING fts5(body, content = '', tokenize = 'unicode61')")
        clock = Clock()
        db.executemany("INSERT INTO docs (rowid, body) VALUES (?, ?)", enumerate(clock.items(collection.texts())))
        db.execute("INSERT INTO docs (docs) VALUES ('optimize')")  # one segment
        db.commit()
        db.close()
        return clock.seconds()

    def open(self, folder):
        self.note = f"SQLite {sqlite3.sqlite_version}"
        self.db = sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)
        self.db.execute("PRAGMA mmap_size = 8589934592")
        self.db.execute("PRAGMA cache_size = -1000000")

    def search(self, words):
        return self.db.execute(SEARCH, (" OR ".join(words),)).fetchall()

    def hits(self, found):
        return [doc for doc, _ in found], [-score for _, score in found]
