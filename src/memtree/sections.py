"""The container of every binary file that memtree writes: named sections behind one checked header.

Layout, little-endian::

    header   magic "MEMTREE\\0" | version u32 | byte-order mark u32 | kind 16 s | file size u64
             | number of sections u32 | crc32 of header and table (this field as zero) u32
    table    per section: name 40 s | offset u64 | size u64 | crc32 u32 | zero u32
    data     each section at a multiple of 64 bytes, so that any array can be used where it lies

A file is opened by mmap and only its header is read, whatever its size; small files are checksummed whole.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib

from memtree.errors import IndexFileError
from memtree.files import write_atomic

MAGIC = b"MEMTREE\0"
VERSION = 1
BYTE_ORDER = 0x01020304
ALIGNMENT = 64
# Up to this size all section checksums are verified at each open (some 10 ms at worst).
CHECKED_SIZE_BYTES = 16 << 20
MAX_SECTIONS = 1024
_HEADER = struct.Struct("<8sII16sQII")
_ENTRY = struct.Struct("<40sQQII")
_REMEDY = "delete the file; it is rebuilt from its source"


def _aligned(offset: int) -> int:
    return (offset + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _name(text: str, size: int, what: str) -> bytes:
    encoded = text.encode("utf-8")
    if not encoded or len(encoded) > size or b"\0" in encoded:
        raise ValueError(f"{what} must be 1 to {size} bytes without NUL, not {text!r}")
    return encoded


def write_sections(path, kind: str, parts) -> None:
    """Write a container atomically: afterwards `path` holds the new file or, on failure, the old one.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
        What the file is, at most 16 bytes; `open_sections` asks for the same.
    parts : mapping of str to bytes-like
        Contiguous buffers by section name (at most 40 bytes each).

    Raises
    ------
    WriteError
        The file can't be written.
    ValueError
        A name or the number of sections does not fit the format.
    """
    if len(parts) > MAX_SECTIONS:
        raise ValueError(f"at most {MAX_SECTIONS} sections, not {len(parts)}")
    views = [(_name(name, 40, "section name"), memoryview(part).cast("B")) for name, part in parts.items()]
    offset = _HEADER.size + len(views) * _ENTRY.size
    table = []
    for name, view in views:
        offset = _aligned(offset)
        table.append((name, offset, len(view), zlib.crc32(view)))
        offset += len(view)
    entries = b"".join(_ENTRY.pack(*entry, 0) for entry in table)
    fields = (MAGIC, VERSION, BYTE_ORDER, _name(kind, 16, "kind"), offset, len(views))
    crc = zlib.crc32(entries, zlib.crc32(_HEADER.pack(*fields, 0)))

    def chunks():
        yield _HEADER.pack(*fields, crc) + entries
        end = _HEADER.size + len(entries)
        for (_, start, size, _), (_, view) in zip(table, views, strict=True):
            yield bytes(start - end)
            yield view
            end = start + size

    write_atomic(os.fspath(path), chunks())


def open_sections(path, kind: str) -> Sections:
    """Map a container and check its header, in a time that does not grow with its size.

    Raises
    ------
    IndexFileError
        The file is not a whole container of this kind and version; the message says what is wrong.
    FileNotFoundError
        There is no such file.
    """
    path = os.fspath(path)
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _HEADER.size:
            raise IndexFileError(f"index file is cut off: {size} bytes", path, remedy=_REMEDY)
        data = memoryview(mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ))
    sections = Sections(path, data, _table(path, data, kind))
    if size <= CHECKED_SIZE_BYTES:
        sections.check()
    return sections


def _table(path: str, data: memoryview, kind: str) -> dict[str, tuple[int, int, int]]:
    """Section name -> (offset, size, crc32), all within the file."""

    def broken(message):
        return IndexFileError(message, path, remedy=_REMEDY)

    magic, version, order, found_kind, size, count, crc = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise broken("not a memtree index file")
    if order != BYTE_ORDER:
        raise broken("index file was written with another byte order")
    if version != VERSION:
        raise broken(f"index file has format version {version}, this memtree reads {VERSION}")
    if size != len(data):
        raise broken(f"index file is cut off or grown: {len(data)} bytes, its header says {size}")
    end = _HEADER.size + count * _ENTRY.size
    if count > MAX_SECTIONS or end > size:
        raise broken("index file has an impossible number of sections")
    unsigned = _HEADER.pack(magic, version, order, found_kind, size, count, 0)
    if zlib.crc32(data[_HEADER.size : end], zlib.crc32(unsigned)) != crc:
        raise broken("index file header fails its checksum")
    if found_kind.rstrip(b"\0") != kind.encode("utf-8"):
        found = found_kind.rstrip(b"\0").decode("utf-8", "replace")
        raise broken(f"index file is of kind {found!r}, not {kind!r}")
    table = {}
    for name, offset, length, section_crc, _ in _ENTRY.iter_unpack(data[_HEADER.size : end]):
        text = name.rstrip(b"\0").decode("utf-8", "replace")
        if offset % ALIGNMENT or offset < end or offset > size or length > size - offset:
            raise broken(f"index file section {text!r} lies outside the file")
        table[text] = (offset, length, section_crc)
    return table


class Sections:
    """Read-only mapping of section name to its bytes, a view of the mapped file."""

    def __init__(self, path: str, data: memoryview, table: dict[str, tuple[int, int, int]]):
        self.path = path
        self._data = data
        self._table = table

    def __getitem__(self, name: str) -> memoryview:
        if name not in self._table:
            raise IndexFileError(f"index file lacks its section {name!r}", self.path, remedy=_REMEDY)
        offset, size, _ = self._table[name]
        return self._data[offset : offset + size]

    def __contains__(self, name: object) -> bool:
        return name in self._table

    def __iter__(self):
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def size_bytes(self) -> int:
        """Size of the whole file."""
        return len(self._data)

    def check(self) -> None:
        """Verify the checksum of every section; raises IndexFileError naming the first that fails."""
        for name, (offset, size, crc) in self._table.items():
            if zlib.crc32(self._data[offset : offset + size]) != crc:
                message = f"index file section {name!r} fails its checksum"
                raise IndexFileError(message, self.path, remedy=_REMEDY)

    def close(self) -> None:
        """Let go of the mapping; it ends once no array uses it any more."""
        self._data = memoryview(b"")
        self._table = {}
