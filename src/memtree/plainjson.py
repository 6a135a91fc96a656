"""JSON text of plain data, without the cost of importing ``json`` at the start of a command."""

from __future__ import annotations

_ESCAPES = {i: f"\\u{i:04x}" for i in range(32)}
_ESCAPES.update({0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"})


def dumps(value, indent=None, _level=0) -> str:
    """`value` as JSON.

    Parameters
    ----------
    value : None, bool, int, float, str, list, tuple or dict with str keys
        A float that is no number becomes null.
    indent : int, optional
        Spaces a level; None writes one line.

    Raises
    ------
    TypeError
        Something else stands in `value`.
    """
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return '"' + value.translate(_ESCAPES) + '"'
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else "null"
    if isinstance(value, dict):
        items = [f"{dumps(str(key))}: {dumps(item, indent, _level + 1)}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif isinstance(value, (list, tuple)):
        items = [dumps(item, indent, _level + 1) for item in value]
        opening, closing = "[", "]"
    else:
        raise TypeError(f"{type(value).__name__} is not plain data")
    if indent is None or not items:
        return opening + ", ".join(items) + closing
    pad = "\n" + " " * indent * (_level + 1)
    return opening + pad + ("," + pad).join(items) + "\n" + " " * indent * _level + closing
