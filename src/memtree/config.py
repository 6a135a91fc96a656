"""Settings: memtree.toml over the defaults, checked, with the line of what is wrong.

All keys are optional. An unknown key is a warning, as a newer memtree may have written it; a wrong type or value is an
error, as guessing would change what people get.
"""

from __future__ import annotations

import os

from memtree.errors import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memtree.workspace import Workspace

MODES = ("korean", "prefix")
MAX_BYTES = 1 << 20
"""A larger memtree.toml is refused."""

# table -> key -> (attribute, default, least, most); the type is the default's.
SPEC: dict[str, dict[str, tuple[str, Any, Any, Any]]] = {
    "recall": {
        "mode": ("mode", "korean", MODES, None),
        "weight_tree": ("weight_tree", 0.4, 0.0, 1.0),
        "weight_bm25": ("weight_bm25", 0.6, 0.0, 1.0),
        "answerable_min": ("answerable_min", 0.38, 0.0, 1.0),
        "check_interval": ("check_interval", 1.0, 0.0, 86_400.0),
    },
    "bm25": {
        "file_k1": ("file_k1", 1.2, 0.0, 1000.0),
        "file_b": ("file_b", 0.75, 0.0, 1.0),
        "passage_k1": ("passage_k1", 0.9, 0.0, 1000.0),
        "passage_b": ("passage_b", 0.4, 0.0, 1.0),
    },
    "cache": {
        "entries": ("cache_entries", 20, 0, 1_000_000),
        "seconds": ("cache_seconds", 1800.0, 0.0, 1e9),
        "buffer_seconds": ("buffer_seconds", 3600.0, 0.0, 1e9),
    },
    "files": {
        "max_bytes": ("max_file_size", 16 << 20, 1, 1 << 40),
        "warn_bytes": ("warn_bytes", 8 << 10, 1, 1 << 40),
        "split_bytes": ("split_bytes", 15 << 10, 1, 1 << 40),
    },
    "decay": {
        "per_day": ("decay_per_day", 0.02, 0.0, 1.0),
        "floor": ("decay_floor", 0.30, 0.0, 1.0),
        "delete": ("decay_delete", False, None, None),
    },
}


class Settings:
    """What memtree.toml says, defaults filled in.

    Attributes
    ----------
    mode : {"korean", "prefix"}
    weight_tree, weight_bm25 : float
        Of the blend.
    answerable_min : float
        Least coverage at which the bank is said to know.
    check_interval : float
        Seconds.
    file_k1, file_b, passage_k1, passage_b : float
        BM25 parameters of files and of passages.
    cache_entries : int
    cache_seconds, buffer_seconds : float
        How long the query cache and ``recall/`` keep an answer.
    max_file_size, warn_bytes, split_bytes : int
        Bytes: what is indexed at most, warned of, and split.
    decay_per_day, decay_floor : float
    decay_delete : bool
    timezone : str
        IANA name; empty for that of the machine.
    routing : list of dict
        ``[[routing]]`` as written, each with the key "line".
    warnings : list of (line or None, message)
    """

    __slots__ = ("answerable_min", "buffer_seconds", "cache_entries", "cache_seconds", "check_interval", "decay_delete",
                 "decay_floor", "decay_per_day", "file_b", "file_k1", "max_file_size", "mode", "passage_b",
                 "passage_k1", "routing", "split_bytes", "timezone", "warn_bytes", "warnings", "weight_bm25",
                 "weight_tree")

    mode: str
    weight_tree: float
    weight_bm25: float
    answerable_min: float
    check_interval: float
    file_k1: float
    file_b: float
    passage_k1: float
    passage_b: float
    cache_entries: int
    cache_seconds: float
    buffer_seconds: float
    max_file_size: int
    warn_bytes: int
    split_bytes: int
    decay_per_day: float
    decay_floor: float
    decay_delete: bool
    timezone: str
    routing: list[dict[str, Any]]
    warnings: list[tuple[int | None, str]]

    def __init__(self) -> None:
        for keys in SPEC.values():
            for attribute, default, _, _ in keys.values():
                setattr(self, attribute, default)
        self.timezone = ""
        self.routing = []
        self.warnings = []


def _line_of(text, table, key):
    """Line on which a key of a table is written, or None."""
    import re

    inside = not table
    for number, line in enumerate(text.splitlines(), 1):
        header = re.match(r"\s*\[+\s*([^\]]+?)\s*\]", line)
        if header:
            inside = header[1] == table
            if key is None and inside:
                return number
        elif inside and key is not None and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return number
    return None


class _Reader:
    """Checks one memtree.toml."""

    def __init__(self, path: str, text: str):
        self.path = path
        self.text = text
        self.settings = Settings()

    def wrong(self, table, key, message):
        name = f"{table}.{key}" if table else key
        return SettingsError(f"{name} {message}", self.path, _line_of(self.text, table, key))

    def unknown(self, table, key):
        name = f"{table}.{key}" if table else key
        self.settings.warnings.append((_line_of(self.text, table, key) or _line_of(self.text, key, None),
                                       f"unknown setting {name}"))

    def read(self, data: dict) -> Settings:
        for name, value in data.items():
            if name == "timezone":
                self.settings.timezone = self.timezone(value)
            elif name == "routing":
                self.settings.routing = self.routing(value)
            elif name not in SPEC:
                self.unknown("", name)
            elif not isinstance(value, dict):
                raise self.wrong("", name, "must be a table")
            else:
                for key, item in value.items():
                    if key in SPEC[name]:
                        self.set(name, key, item)
                    else:
                        self.unknown(name, key)
        settings = self.settings
        if settings.warn_bytes > settings.split_bytes:
            if "warn_bytes" in data.get("files", {}):
                raise self.wrong("files", "warn_bytes", f"must not be over split_bytes, {settings.split_bytes}")
            settings.warn_bytes = settings.split_bytes
        return settings

    def set(self, table, key, value):
        """Check one value and take it over."""
        attribute, default, least, most = SPEC[table][key]
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) is not type(default):
            kind = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}[type(default)]
            raise self.wrong(table, key, f"must be {kind}, not {value!r}")
        if isinstance(default, str):
            if value not in least:
                raise self.wrong(table, key, f"must be one of {', '.join(least)}, not {value!r}")
        elif not isinstance(default, bool) and not least <= value <= most:
            raise self.wrong(table, key, f"must lie in {least} to {most}, not {value!r}")
        setattr(self.settings, attribute, value)

    def timezone(self, value):
        """Check the name of a time zone."""
        from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError, TypeError, AttributeError, OSError):
            raise self.wrong("", "timezone", f"must be a name like Asia/Seoul, not {value!r}") from None
        return value

    def routing(self, rules):
        """Take over ``[[routing]]``; what the rules mean is checked where they are used."""
        if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
            raise self.wrong("", "routing", "must be written as [[routing]] tables")
        lines = [number for number, line in enumerate(self.text.splitlines(), 1)
                 if line.replace(" ", "").replace("\t", "").startswith("[[routing]]")]
        return [{**rule, "line": lines[i] if i < len(lines) else None} for i, rule in enumerate(rules)]


def load(workspace: Workspace) -> Settings:
    """Read the settings of a workspace.

    Raises
    ------
    SettingsError
        memtree.toml is no TOML, or holds a value that can't be used.
    """
    path = workspace.settings
    if not os.path.exists(path):
        return Settings()
    return check(read_text(path), path)


def read_text(path: str) -> str:
    """Text of a memtree.toml, line ends as they stand.

    Raises
    ------
    SettingsError
        It can't be read, is no UTF-8 or too large.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(MAX_BYTES + 1).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"can't be read: {error}", path, remedy="save it as UTF-8 text") from None
    if len(text) > MAX_BYTES:
        raise SettingsError(f"is larger than {MAX_BYTES:,} bytes", path)
    return text


def parse_toml(text: str, path: str) -> dict[str, Any]:
    """Plain data of a TOML text; `path` is for the message.

    Raises
    ------
    SettingsError
        It is no TOML; with the line.
    """
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # a number of over 4,300 digits is a plain ValueError
        line = getattr(error, "lineno", None)
        message = str(error)
        if line is None and "at line " in message:
            line = int(message.split("at line ")[1].split(",")[0])
        raise SettingsError(f"is no valid TOML: {message}", path, line) from None


def check(text: str, path: str) -> Settings:
    """The settings that a text would give.

    Raises
    ------
    SettingsError
        As `load`.
    """
    return _Reader(path, text).read(parse_toml(text, path))
