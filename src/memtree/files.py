"""The only writer: contained paths, lock, atomic write.

A write makes a temporary file beside the target, flushes it to disk and renames it over the target, so that
a reader or a crash sees the old content or the new, never a part. A lock belongs to the open file, not to its
name: the system drops it with the process, so a killed writer leaves none behind.
"""

from __future__ import annotations

import os
import sys
import time

from memtree.errors import LockError, PathError, WriteError

# Virus scanners and sync clients hold a file open for a moment on Windows: about one second in all.
REPLACE_DELAYS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.3)
TEMPORARY_PREFIX = ".memtree-"
TEMPORARY_SUFFIX = ".tmp"
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)

_temporary_count = 0


def contained(root: str, relative: str) -> str:
    """Give the absolute path of a file below a folder.

    Parameters
    ----------
    root : str
        The folder that must hold it.
    relative : str
        Path below `root`; the file need not exist yet.

    Returns
    -------
    str
        `root` and `relative` joined, absolute, symbolic links not resolved.

    Raises
    ------
    PathError
        The path is absolute, climbs out by ``..``, holds a NUL, or leads out through a symbolic link.
    """
    if "\0" in relative:
        raise PathError("a path may not hold a NUL character", path=relative.replace("\0", "?"))
    if os.path.isabs(relative) or os.path.splitdrive(relative)[0]:
        raise PathError("an absolute path is not allowed here", path=relative, remedy=f"give it below {root}")
    if ".." in relative.replace(os.sep, "/").split("/"):
        raise PathError("'..' is not allowed in a path", path=relative, remedy=f"give it below {root}")
    path = os.path.normpath(os.path.join(os.path.abspath(root), relative))
    if not is_below(os.path.realpath(path), os.path.realpath(root)):
        raise PathError(f"the path leads out of {root} through a symbolic link", path=relative)
    return path


def is_below(path: str, folder: str) -> bool:
    """Tell whether an absolute, resolved `path` is `folder` or lies in it."""
    return path == folder or path.startswith(folder if folder.endswith(os.sep) else folder + os.sep)


def write_atomic(path: str, data, sync: bool = True) -> None:
    """Replace a file's content, wholly or not at all.

    Parameters
    ----------
    path : str
        The file; its folder is made if need be. A symbolic link stays one: its target is replaced.
    data : bytes-like, or iterable of bytes-like
        The new content, whole or in pieces.
    sync : bool
        Flush file and folder to disk before returning. Without, a power failure may lose the new content.

    Raises
    ------
    WriteError
        The folder or disk refused. The old content is whole and no temporary file is left.
    """
    global _temporary_count
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    _temporary_count += 1
    temporary = os.path.join(folder, f"{TEMPORARY_PREFIX}{os.getpid()}-{_temporary_count}{TEMPORARY_SUFFIX}")
    made = False
    try:
        os.makedirs(folder, exist_ok=True)
        descriptor = os.open(temporary, _CREATE, 0o666)
        made = True
        try:
            _copy_mode(target, descriptor)
            for piece in (data,) if isinstance(data, (bytes, bytearray, memoryview)) else data:
                view = memoryview(piece).cast("B")
                while view:
                    view = view[os.write(descriptor, view) :]
            if sync:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        replace(temporary, target)
        made = False
        if sync:
            sync_folder(folder)
    except OSError as error:
        raise WriteError(
            f"can't write the file: {error.strerror or error}",
            path=path,
            remedy="its old content is unchanged",
        ) from error
    finally:
        if made:
            remove(temporary)


def replace(source: str, target: str) -> None:
    """Rename `source` over `target`; a refusal is retried for about a second."""
    for delay in REPLACE_DELAYS:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            # A refusal passes only if the folder itself is writable.
            if not os.access(os.path.dirname(target), os.W_OK):
                raise
            time.sleep(delay)
    os.replace(source, target)


def remove(path: str) -> None:
    """Delete a file that may be gone already."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def sync_folder(folder: str) -> None:
    """Make renames in a folder durable, where the system can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        # Some network file systems can't flush a folder; the rename itself has happened.
        pass
    finally:
        os.close(descriptor)


def is_temporary(name: str) -> bool:
    """Tell whether a file name is that of a write in progress (or of one that was killed)."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(TEMPORARY_SUFFIX)


def _copy_mode(target: str, descriptor: int) -> None:
    if hasattr(os, "fchmod"):
        try:
            os.fchmod(descriptor, os.stat(target).st_mode & 0o7777)
        except FileNotFoundError:
            pass


class Lock:
    """Keep other processes and threads out while in the ``with`` block.

    Parameters
    ----------
    path : str
        The lock file, made if need be and never deleted.
    timeout : float
        Seconds to wait for the holder.

    Attributes
    ----------
    was_abandoned : bool
        The previous holder was killed inside its block: what it wrote may need recovery.

    Raises
    ------
    LockError
        Still held after `timeout` seconds.
    WriteError
        The lock file can't be made.
    """

    def __init__(self, path: str, timeout: float = 10.0):
        self.path = path
        self.timeout = timeout
        self.was_abandoned = False
        self._descriptor = -1

    def __enter__(self) -> Lock:
        deadline = time.monotonic() + self.timeout
        delay = 0.001
        while True:
            self._open()
            if _lock(self._descriptor):
                if self._is_current():
                    break
                self._close()
                continue
            if time.monotonic() >= deadline:
                holder = self._holder()
                self._close()
                raise LockError(
                    f"another process{holder} has held the lock for {self.timeout:g} s; nothing was changed",
                    path=self.path,
                    remedy="try again when it has finished",
                )
            self._close()
            time.sleep(delay)
            delay = min(delay * 1.5, 0.02)
        # The holder's number stands in the file while it holds: still there means it died inside.
        self.was_abandoned = os.fstat(self._descriptor).st_size > 0
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        try:
            os.write(self._descriptor, b"%d\n" % os.getpid())
        except OSError:
            # A full disk: the lock holds without its note, and the write it guards will tell.
            pass
        return self

    def __exit__(self, *_: object) -> None:
        os.ftruncate(self._descriptor, 0)
        self._close()

    def _open(self) -> None:
        try:
            os.makedirs(os.path.dirname(self.path) or ".", exist_ok=True)
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            why = error.strerror or error
            raise WriteError(f"can't make the lock file: {why}", path=self.path) from error

    def _close(self) -> None:
        os.close(self._descriptor)  # drops the lock
        self._descriptor = -1

    def _is_current(self) -> bool:
        """Whether the name still means the locked file: .memtree/ may have been deleted meanwhile."""
        try:
            named = os.stat(self.path)
        except FileNotFoundError:
            return False
        return os.path.samestat(named, os.fstat(self._descriptor))

    def _holder(self) -> str:
        text = os.read(self._descriptor, 20).strip()
        return f" (number {text.decode()})" if text.isdigit() else ""


if sys.platform == "win32":

    def _lock(descriptor: int) -> bool:
        import msvcrt

        try:
            # A byte far behind the content, so that the holder's number stays readable.
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:

    def _lock(descriptor: int) -> bool:
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
