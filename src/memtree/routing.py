"""Routing: the bank file that an item belongs in, by its tag and a regular expression; the first match wins.

Rules of memtree.toml come before the built-in ones, which hold for what no rule took::

    [[routing]]
    tag = "W"
    pattern = "회의|meeting"
    file = "world/meetings.md"

A pattern is looked for in ``entity: text`` without regard to letter case; without one the rule takes every item of its
tag. Python's matcher backtracks, so a careless expression could run for years. The parsed expression tells in how many
ways it could match at one place: alternatives add up, what follows each other multiplies, a repetition has as many ways
as it has counts, times those of each turn. Only expressions of at most `MAX_WAYS` are let in, none with a
back-reference, a condition or a look-around, and only the first `MAX_MATCHED` characters of an item are looked at.
"""

from __future__ import annotations

import re
import unicodedata
import warnings

try:
    from re import _constants as _codes  # type: ignore[attr-defined]
    from re import _parser as _parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10
    import sre_constants as _codes  # type: ignore[no-redef]
    import sre_parse as _parser  # type: ignore[no-redef]

from memtree.errors import PathError, SettingsError
from memtree.files import contained
from memtree.items import TAGS, Item
from memtree.workspace import is_markdown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings
    from memtree.workspace import Workspace

BUILT_IN = (
    ("W", "도구|툴|tool", "world/tools.md"),
    ("W", "프로젝트|project", "world/projects.md"),
    ("W", "", "world/environment.md"),
    ("B", "패턴|반복|루틴", "patterns/routines.md"),
    ("B", "", "experience/log.md"),
    ("O", "", "opinions/assessments.md"),
    ("S", "가치관|원칙|철학", "identity/values.md"),
    ("S", "", "identity/self.md"),
)
"""Tag, pattern and file of each rule that holds without settings."""

MAX_MATCHED = 300
MAX_PATTERN = 1_000
MAX_WAYS = 100_000
_REMEDY = "write the words that you look for, with | between them"
_REPEATS = {_codes.MAX_REPEAT, _codes.MIN_REPEAT, getattr(_codes, "POSSESSIVE_REPEAT", None)}
_REFUSED = {
    _codes.GROUPREF: "a back-reference",
    _codes.GROUPREF_EXISTS: "a conditional group",
    _codes.ASSERT: "a look-around",
    _codes.ASSERT_NOT: "a look-around",
}


class Router:
    """The rules of a workspace, checked.

    Raises
    ------
    SettingsError
        A rule has an unknown tag, an expression that is wrong or could hang, or a file outside the bank; with its
        line in memtree.toml.
    """

    __slots__ = ("rules",)

    def __init__(self, workspace: Workspace, settings: Settings):
        self.rules = [_rule(workspace, rule) for rule in settings.routing]
        self.rules += [(tag, compiled(pattern), file) for tag, pattern, file in BUILT_IN]

    def file(self, item: Item) -> str:
        """Path of the bank file that an item goes to, relative to the bank."""
        text = _folded(f"{item.entity}: {item.text}")[:MAX_MATCHED]
        return next(file for tag, pattern, file in self.rules if tag == item.tag and pattern.search(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _rule(workspace, rule):
    """One ``[[routing]]`` table as tag, expression, file."""
    line = rule["line"]

    def wrong(message, remedy=None):
        return SettingsError(f"routing: {message}", workspace.settings, line, remedy)

    for key in rule:
        if key not in ("tag", "pattern", "file", "line"):
            raise wrong(f"unknown key {key!r}", "a rule has tag, pattern and file")
    tag, pattern, file = rule.get("tag"), rule.get("pattern", ""), rule.get("file")
    if tag not in TAGS:
        raise wrong(f"unknown tag {tag!r}", f"use one of {', '.join(TAGS)}")
    if not isinstance(pattern, str):
        raise wrong(f"pattern must be a text, not {pattern!r}")
    try:
        expression = compiled(pattern)
    except ValueError as error:
        raise wrong(f"pattern {pattern!r}: {error}", _REMEDY) from None
    if not isinstance(file, str) or not file:
        raise wrong(f"file must be the path of a file in the bank, not {file!r}")
    file = file.replace("\\", "/").removeprefix("./")
    try:
        contained(workspace.bank, file)
    except PathError as error:
        raise wrong(f"file {file!r} is not in the bank: {error.message}", "give it relative to the bank") from None
    parts = file.split("/")
    hidden = any(part.startswith(".") or not part for part in parts) or parts[0] in ("recall", "_meta")
    if not is_markdown(parts[-1]) or hidden or "node_modules" in parts:
        raise wrong(f"file {file!r} would not be recalled", "name a .md file outside hidden folders, _meta and recall")
    return tag, expression, file


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile an expression that can't hang.

    Raises
    ------
    ValueError
        It is no regular expression, or its work has no bound; the message says what is wrong.
    """
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"longer than {MAX_PATTERN} characters")
    pattern = _folded(pattern)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ways = _ways(_parser.parse(pattern, re.IGNORECASE))
            expression = re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise ValueError(f"no valid regular expression: {error}") from None
    if ways > MAX_WAYS:
        raise ValueError("it could take for ever: too many repetitions, or alternatives in a repetition")
    return expression


def _ways(parsed) -> int:
    """In how many ways a parsed expression could match at one place of a text; more than `MAX_WAYS` is not counted."""
    ways = 1
    for code, value in parsed:
        if code in _REFUSED:
            raise ValueError(f"{_REFUSED[code]} is not allowed")
        if code in _REPEATS:
            least, most, inner = value
            least, most = (min(int(bound), MAX_MATCHED) for bound in (least, most))
            # A turn's ways multiply at every turn; 17 turns of 2 are over the limit already.
            ways *= (most - least + 1) * _ways(inner) ** min(most, 17)
        elif code is _codes.BRANCH:
            ways *= sum(map(_ways, value[1]))
        elif code is _codes.SUBPATTERN:
            ways *= _ways(value[3])
        elif code is getattr(_codes, "ATOMIC_GROUP", None):
            ways *= _ways(value)
        ways = min(ways, MAX_WAYS + 1)
    return ways
