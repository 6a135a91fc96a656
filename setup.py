"""Compile every ``src/memtree/*.pyx``; metadata lives in pyproject.toml."""

import os
import runpy
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# MEMTREE_CHECKS=1 builds with bounds checks on, to run the test-suite against.
CHECKS = os.environ.get("MEMTREE_CHECKS") == "1"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": CHECKS,
    "wraparound": False,
    "initializedcheck": CHECKS,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}
# contract=off: a fused multiply-add would make SIMD and scalar paths differ in the last bit.
UNIX_FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fvisibility=hidden", "-Wno-unused-function"]
MSVC_FLAGS = ["/O2", "/fp:precise"]
# The tables of src/memtree/data as C arrays.
TABLES = "build/tables"


class BuildExt(build_ext):
    """Choose flags by the compiler that is really used."""

    def build_extensions(self):
        flags = MSVC_FLAGS if self.compiler.compiler_type == "msvc" else UNIX_FLAGS
        for extension in self.extensions:
            extension.extra_compile_args = flags
        super().build_extensions()


def extension(path):
    name = "memtree." + os.path.splitext(os.path.basename(path))[0]
    headers = sorted(glob("src/memtree/*.h") + glob("src/memtree/*.pxd"))
    return Extension(name, [path], include_dirs=["src/memtree", TABLES], depends=[TABLES + "/_tables.h", *headers])


# A generated console script imports re before anything of ours (7 ms, half the start of Python); two lines of
# Python do without. Windows needs the generated .exe.
COMMANDS = {
    "memtree": "memtree.cli.main:main",
    "recall-tree": "memtree.cli.recall_tree:main",
    "bank-size-watch": "memtree.cli.watch_size:main",
    "retain-merge": "memtree.cli.retain:main",
}
if os.name == "posix":
    installed = {"scripts": [f"scripts/{name}" for name in COMMANDS]}
else:
    installed = {
        "entry_points": {"console_scripts": [f"{name} = {place}" for name, place in COMMANDS.items()]}
    }

runpy.run_path("src/memtree/data/generate.py")["write_header"](TABLES + "/_tables.h")

setup(
    **installed,
    ext_modules=cythonize(
        [extension(path) for path in sorted(glob("src/memtree/*.pyx"))],
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
    ),
    cmdclass={"build_ext": BuildExt},
)
