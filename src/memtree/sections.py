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

from memtree.errors import IndexFileError, WriteError
from memtree.files import remove, replace, sync_folder, write_atomic

MAGIC = b"MEMTREE\0"
VERSION = 1
BYTE_ORDER = 0x01020304
ALIGNMENT = 64
# Up to this size all section checksums are verified at each open (some 10 ms at worst).
CHECKED_SIZE_BYTES = 16 << 20
MAX_SECTIONS = 1024
_HEADER = struct.Struct("<8sII16sQII")
_ENTRY = struct.Struct("<40sQQII")
_REMEDY = "build it again"


def _aligned(offset: int) -> int:
    return (offset + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _name(text: str, size: int, what: str) -> bytes:
    encoded = text.encode("utf-8")
    if not encoded or len(encoded) > size or b"\0" in encoded:
        raise ValueError(f"{what} must be 1 to {size} bytes without NUL, not {text!r}")
    return encoded


def write_sections(path, kind: str, parts, sync: bool = True) -> None:
    """Write a container atomically: afterwards `path` holds the new file or, on failure, the old one.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
        What the file is, at most 16 bytes; `open_sections` asks for the same.
    parts : mapping of str to bytes-like
        Contiguous buffers by section name (at most 40 bytes each).
    sync : bool
        Flush it to disk before returning.

    Raises
    ------
    WriteError
        The file can't be written.
    ValueError
        A name or the number of sections does not fit the format.
    """
    views = {name: memoryview(part).cast("B") for name, part in parts.items()}
    places, size = _places({name: len(view) for name, view in views.items()})
    header = _header(kind, places, size, [zlib.crc32(view) for view in views.values()])

    def chunks():
        yield header
        end = len(header)
        for (_, start, length), view in zip(places, views.values(), strict=True):
            yield bytes(start - end)
            yield view
            end = start + length

    write_atomic(os.fsdecode(path), chunks(), sync)


def _places(sizes: dict[str, int]) -> tuple[list[tuple[bytes, int, int]], int]:
    """Encoded name, offset and size of each section, and the size of the file."""
    if len(sizes) > MAX_SECTIONS:
        raise ValueError(f"at most {MAX_SECTIONS} sections, not {len(sizes)}")
    end = _HEADER.size + len(sizes) * _ENTRY.size
    places = []
    for name, size in sizes.items():
        start = _aligned(end)
        places.append((_name(name, 40, "section name"), start, size))
        end = start + size
    return places, end


def _header(kind: str, places, size: int, crcs) -> bytes:
    entries = b"".join(_ENTRY.pack(*place, crc, 0) for place, crc in zip(places, crcs, strict=True))
    fields = (MAGIC, VERSION, BYTE_ORDER, _name(kind, 16, "kind"), size, len(places))
    crc = zlib.crc32(entries, zlib.crc32(_HEADER.pack(*fields, 0)))
    return _HEADER.pack(*fields, crc) + entries


class NewSections:
    """A container that is made in place, so that it may be larger than memory: an open file, to be filled by parts.

    Parameters
    ----------
    path : str
        A temporary file, on the disk of the final one.
    kind : str
    sizes : dict of str to int
        Bytes of each section; all are zero at first.

    Raises
    ------
    WriteError
        There is no room on the disk.
    """

    def __init__(self, path: str, kind: str, sizes: dict[str, int]):
        self._path, self._kind = path, kind
        self._places, self._size = _places(sizes)
        try:
            with open(path, "w+b") as stream:
                _reserve(stream, self._size)
                self._map = mmap.mmap(stream.fileno(), self._size)
        except OSError as error:
            remove(path)
            raise WriteError(f"can't write the file: {error.strerror or error}", path=path) from error

    def parts(self) -> dict[str, memoryview]:
        """The sections by name, writable, where they lie in the file."""
        view = memoryview(self._map)
        return {name.decode(): view[start : start + size] for name, start, size in self._places}

    def release(self) -> None:
        """Let go of the memory of what was read or written so far; it stays in the file."""
        _release(self._map)

    def commit(self, path: str) -> None:
        """Give the file its header and its name; `parts` must not be in use any more."""
        crcs = []
        for _, start, size in self._places:
            crc = 0
            for at in range(start, start + size, CHECKED_SIZE_BYTES // 4):
                crc = zlib.crc32(self._map[at : min(at + CHECKED_SIZE_BYTES // 4, start + size)], crc)
                self.release()
            crcs.append(crc)
        header = _header(self._kind, self._places, self._size, crcs)
        self._map[: len(header)] = header
        try:
            self._map.flush()
            self._map.close()
            with open(self._path, "r+b") as stream:
                os.fsync(stream.fileno())
            replace(self._path, path)
            sync_folder(os.path.dirname(path))
        except OSError as error:
            raise WriteError(f"can't write the file: {error.strerror or error}", path=path) from error


def _reserve(stream, size: int) -> None:
    """Make a file of zeros that has its room on the disk: writing to the mapping can't fail later."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(stream.fileno(), 0, size)
        return
    zeros = bytes(1 << 20)
    for start in range(0, size, len(zeros)):
        stream.write(zeros[: size - start])
    stream.flush()


def _release(mapping) -> None:
    if hasattr(mmap, "MADV_DONTNEED"):
        mapping.madvise(mmap.MADV_DONTNEED)


def open_sections(path, kind: str, remedy: str | None = None) -> Sections:
    """Map a container and check its header, in a time that does not grow with its size.

    Parameters
    ----------
    path : str or os.PathLike
    kind : str
    remedy : str, optional
        What a user can do about a file that is damaged or none of these. Without, nothing is advised about one that
        is none: it may be the user's own.

    Raises
    ------
    IndexFileError
        The file is not a whole container of this kind and version; the message says what is wrong.
    FileNotFoundError
        There is no such file.
    """
    path = os.fsdecode(path)
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size < _HEADER.size:
            if not MAGIC.startswith(stream.read(len(MAGIC))):
                raise IndexFileError("not a memtree index file", path, remedy=remedy)
            raise IndexFileError(f"index file is cut off: {size} bytes", path, remedy=remedy or _REMEDY)
        data = memoryview(mmap.mmap(stream.fileno(), size, access=mmap.ACCESS_READ))
    sections = Sections(path, data, _table(path, data, kind, remedy), remedy or _REMEDY)
    if size <= CHECKED_SIZE_BYTES:
        sections.check()
    return sections


def _table(path: str, data: memoryview, kind: str, remedy: str | None) -> dict[str, tuple[int, int, int]]:
    """Section name -> (offset, size, crc32), all within the file."""

    def broken(message):
        return IndexFileError(message, path, remedy=remedy or _REMEDY)

    magic, version, order, found_kind, size, count, crc = _HEADER.unpack_from(data)
    if magic != MAGIC:
        raise IndexFileError("not a memtree index file", path, remedy=remedy)
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
        raise IndexFileError(f"index file is of kind {found!r}, not {kind!r}", path, remedy=remedy)
    table = {}
    for name, offset, length, section_crc, _ in _ENTRY.iter_unpack(data[_HEADER.size : end]):
        text = name.rstrip(b"\0").decode("utf-8", "replace")
        if offset % ALIGNMENT or offset < end or offset > size or length > size - offset:
            raise broken(f"index file section {text!r} lies outside the file")
        table[text] = (offset, length, section_crc)
    return table


class Sections:
    """Read-only mapping of section name to its bytes, a view of the mapped file."""

    def __init__(self, path: str, data: memoryview, table: dict[str, tuple[int, int, int]], remedy: str):
        self.path = path
        self._data = data
        self._table = table
        self._remedy = remedy

    def __getitem__(self, name: str) -> memoryview:
        if name not in self._table:
            raise IndexFileError(f"index file lacks its section {name!r}", self.path, remedy=self._remedy)
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
                raise IndexFileError(message, self.path, remedy=self._remedy)

    def release(self) -> None:
        """Let go of the memory of what was read so far; it is read again from the file if need be."""
        _release(self._data.obj)

    def close(self) -> None:
        """Let go of the mapping; it ends once no array uses it any more."""
        self._data = memoryview(b"")
        self._table = {}
