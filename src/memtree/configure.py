"""Change memtree.toml: comments, order and line ends stay as a person wrote them.

The new text is checked as a whole, rules included, before it takes the place of the old one.
"""

from __future__ import annotations

import os

from memtree import config, journal
from memtree.errors import SettingsError
from memtree.files import write_atomic
from memtree.routing import Router

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memtree.workspace import Workspace

_BOM = "\ufeff"
_WORDS = {"true": True, "false": False}


def names() -> list[str]:
    """Names of all settings that hold one value, as ``recall.mode``."""
    return ["timezone", *(f"{table}.{key}" for table, keys in config.SPEC.items() for key in keys)]


def value_of(settings: config.Settings, name: str) -> Any:
    """Value of a setting.

    Raises
    ------
    SettingsError
        There is no setting of that name.
    """
    table, key = _parted(name)
    return getattr(settings, config.SPEC[table][key][0] if table else name)


def assign(workspace: Workspace, name: str, text: str) -> None:
    """Write one setting, given as on a command line.

    Raises
    ------
    SettingsError
        There is no setting of that name, or it can't have that value; memtree.toml is as before.
    """
    table, key = _parted(name)
    default = config.SPEC[table][key][1] if table else ""
    value = _typed(text, default)

    def change(document):
        import tomlkit

        if table and not isinstance(document.get(table, {}), dict):
            raise SettingsError(f"{table} must be a table", workspace.settings)
        if table and table not in document:
            document.add(table, tomlkit.table())
        place = document[table] if table else document
        place[key] = value

    _change(workspace, change)


def unset(workspace: Workspace, name: str) -> bool:
    """Drop one setting, so that its default holds again; tells whether it was there.

    Raises
    ------
    SettingsError
        There is no setting of that name.
    """
    table, key = _parted(name)

    def change(document):
        place = document.get(table, {}) if table else document
        return isinstance(place, dict) and place.pop(key, None) is not None

    return _change(workspace, change)


def add_route(workspace: Workspace, tag: str, pattern: str, file: str) -> None:
    """Add a ``[[routing]]`` rule, after those that are there.

    Raises
    ------
    SettingsError
        The rule can't be used; memtree.toml is as before.
    """

    def change(document):
        import tomlkit

        rules = document.setdefault("routing", tomlkit.aot())
        rule = tomlkit.table() if isinstance(rules, tomlkit.items.AoT) else tomlkit.inline_table()
        rule.update({"tag": tag, "pattern": pattern, "file": file} if pattern else {"tag": tag, "file": file})
        if not isinstance(rules, list):
            raise SettingsError("routing must be written as [[routing]] tables", workspace.settings)
        rules.append(rule)

    _change(workspace, change)


def _parted(name):
    """Table and key of a setting; the table is empty at the top level."""
    if name not in names():
        import difflib

        near = difflib.get_close_matches(name, names(), 1, 0.5)
        raise SettingsError(f"there is no setting {name!r}",
                            remedy=f"did you mean {near[0]}?" if near else "memtree config lists them all")
    table, _, key = name.rpartition(".")
    return table, key


def _typed(text, default):
    """A value of the type of its default, as far as the text allows; what it must be is checked with the rest."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        return _WORDS.get(text.lower(), text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _change(workspace: Workspace, change: Callable) -> Any:
    """Let a function change the parsed document; write it if it can be used."""
    import tomlkit

    path = workspace.settings
    with journal.Writing(workspace):
        before, mark = "", ""
        if os.path.exists(path):
            before = config.read_text(path)
            config.parse_toml(before, path)
            with open(path, "rb") as file:
                mark = _BOM if file.read(3) == _BOM.encode() else ""
        document = tomlkit.parse(before)
        result = change(document)
        after = tomlkit.dumps(document)
        if before.count("\r\n") * 2 > before.count("\n"):
            after = after.replace("\r\n", "\n").replace("\n", "\r\n")
        if after != before:
            try:
                Router(workspace, config.check(after, path))
            except SettingsError as error:
                # What was there may be wrong already; else it is the new value, which stands on no line.
                Router(workspace, config.check(before, path))
                raise SettingsError(error.message, remedy=error.remedy or "memtree.toml is unchanged") from None
            write_atomic(path, (mark + after).encode())
    return result
