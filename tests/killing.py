"""Run code in a child that dies at the n-th system call which changes the disk."""

import os
import subprocess
import sys

CALLS = ("write", "fsync", "replace", "rename", "unlink", "rmdir", "mkdir", "ftruncate", "fchmod")
KILLED = 9
PATCH = f"""
import os, sys
at = int(sys.argv[1])
count = 0
def patch(name):
    real = getattr(os, name)
    def call(*args, **options):
        global count
        count += 1
        if count == at:
            os._exit({KILLED})
        return real(*args, **options)
    setattr(os, name, call)
for name in {CALLS!r}:
    patch(name)
"""


def run(code, at, *arguments):
    """Run `code`, which finds its arguments from ``sys.argv[2]``; give its exit status."""
    command = [sys.executable, "-c", PATCH + code, str(at), *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, check=False).returncode
