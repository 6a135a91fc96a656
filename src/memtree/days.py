"""The day it is for the user: in the time zone of the settings, else in that of the machine."""

from __future__ import annotations

import re
from datetime import date, datetime, timezone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtree.config import Settings

_LOG_NAME = re.compile(r"(\d{4}-\d{2}-\d{2})(?!\d).*\.(?:md|markdown|MD)")


def today(settings: Settings, now: datetime | None = None) -> str:
    """ISO day of a moment.

    Parameters
    ----------
    settings : Settings
    now : datetime, optional
        A moment with its time zone; default: now.
    """
    if now is None:
        now = datetime.now(timezone.utc)
    if settings.timezone:
        from zoneinfo import ZoneInfo

        return now.astimezone(ZoneInfo(settings.timezone)).date().isoformat()
    return now.astimezone().date().isoformat()


def day_of_log(name: str) -> str:
    """ISO day that a log's file name begins with; empty if it is no log."""
    match = _LOG_NAME.fullmatch(name)
    if match:
        try:
            return date.fromisoformat(match[1]).isoformat()
        except ValueError:
            pass
    return ""
