"""The errors that memtree raises for a user's file or machine.

A wrong argument is a plain ``ValueError`` or ``TypeError``. Everything here is a :class:`MemtreeError`,
which the command line prints as ``path:line: message`` and the remedy, without a traceback.
"""

from __future__ import annotations


class MemtreeError(Exception):
    """Base of all errors about a user's files, settings or machine.

    Parameters
    ----------
    message : str
        What is wrong, one sentence.
    path : str, optional
        The file concerned.
    line : int, optional
        Its line, from 1.
    remedy : str, optional
        What the user can do about it.
    """

    def __init__(self, message, path=None, line=None, remedy=None):
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.remedy = remedy

    def __str__(self):
        text = self.message
        if self.path is not None:
            text = f"{self.path}: {text}" if self.line is None else f"{self.path}:{self.line}: {text}"
        return f"{text} ({self.remedy})" if self.remedy else text


class BankError(MemtreeError):
    """The folder is no usable bank."""


class IndexFileError(MemtreeError):
    """A binary index is corrupt, truncated or of another version."""


class SettingsError(MemtreeError, ValueError):
    """memtree.toml holds something that can't be used."""


class PathError(MemtreeError, ValueError):
    """A path leaves the workspace or does not exist in it."""


class LockError(MemtreeError, TimeoutError):
    """Another process holds the lock."""


class WriteError(MemtreeError, OSError):
    """A file could not be written; the old content is whole."""
