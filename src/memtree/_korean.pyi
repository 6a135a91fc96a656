"""Stems of one Hangul run; a C interface only, see `_korean.pxd`."""
