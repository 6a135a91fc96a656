"""Bring what the README shows up to date with what the commands really print: ``make docs``.

Rewrites the output below each ``$`` line of README.md and draws ``docs/recall.svg``; ``tests/test_readme.py`` tells
when that is due.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "recall.svg"
PICTURED = 'memtree recall "가치관이 뭐야?" --bank examples/bank -k 2 --passages 2'
WIDTH = 100
PROGRAMS = {
    "memtree": [sys.executable, "-m", "memtree"],
    "recall-tree": [sys.executable, "-c", "from memtree.cli.recall_tree import script; script()"],
}
# Without the web font of rich's own template: the picture fetches nothing.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, D2Coding, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def output(command: str, folder: Path) -> str:
    """What a command of the README prints in a folder that holds the examples."""
    program, *arguments = shlex.split(command)
    done = subprocess.run([*PROGRAMS[program], *arguments], cwd=folder, capture_output=True, encoding="utf-8")
    return done.stderr + done.stdout


def with_outputs(readme: str, folder: Path) -> str:
    """The README with the output of each ``$`` line as it is now."""

    def block(match: re.Match) -> str:
        commands = re.findall(r"^\$ (.*)$", match[1], re.M)
        return "```console\n" + "".join(f"$ {command}\n{output(command, folder)}" for command in commands) + "```"

    return re.sub(r"```console\n(.*?)```", block, readme, flags=re.S)


def picture(folder: Path) -> str:
    """The pictured command on a terminal, as SVG."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ {PICTURED}", style="bold"))
    console.print(Text.from_ansi(output(f"{PICTURED} --color always", folder)))
    return console.export_svg(title="memtree", code_format=SVG, unique_id="memtree")


def main() -> None:
    """Write both."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ignored = shutil.ignore_patterns(".memtree", "recall")
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)
        output("memtree index --bank examples/bank", folder)
        README.write_text(with_outputs(README.read_text(encoding="utf-8"), folder), encoding="utf-8")
        PICTURE.write_text(picture(folder), encoding="utf-8")


if __name__ == "__main__":
    main()
