"""Terms of a surface; a C interface only, see `_terms.pxd`."""
