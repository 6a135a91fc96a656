"""The stubs of the compiled modules tell what those hold."""

import ast
from importlib import import_module
from importlib.resources import files

import pytest

import memtree

PACKAGE = files(memtree)
COMPILED = sorted(entry.name.split(".")[0] for entry in PACKAGE.iterdir() if entry.name.endswith((".so", ".pyd")))


def declared(body):
    """Public names that a stub declares, and for each its node."""
    names = {}
    for node in body:
        if isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            names[node.name] = node
    return {name: node for name, node in names.items() if name.startswith("__") or not name.startswith("_")}




@pytest.mark.parametrize("name", COMPILED)
def test_stub_names_exist(name):
    stub = ast.parse((PACKAGE / f"{name}.pyi").read_text("utf-8"))
    module = import_module(f"memtree.{name}")
    top = declared(stub.body)
    missing = [public for public in top if not hasattr(module, public)]
    for public, node in top.items():
        if isinstance(node, ast.ClassDef):
            owner = getattr(module, public)
            missing += [f"{public}.{member}" for member in declared(node.body) if not hasattr(owner, member)]
    assert not missing


@pytest.mark.parametrize("name", COMPILED)
def test_stubs_leave_out_nothing_public(name):
    stub = ast.parse((PACKAGE / f"{name}.pyi").read_text("utf-8"))
    module = import_module(f"memtree.{name}")
    for public, node in declared(stub.body).items():
        if isinstance(node, ast.ClassDef):
            owner = getattr(module, public)
            held = {member for member in vars(owner) if not member.startswith("_")}
            assert held <= set(declared(node.body)), public


def test_every_extension_is_built():
    sources = {entry.name.split(".")[0] for entry in PACKAGE.iterdir() if entry.name.endswith(".pyx")}
    assert sources <= set(COMPILED)
