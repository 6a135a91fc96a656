"""Draw ``docs/recall.svg`` from what the command really prints: ``make picture``."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "가치관이 뭐야?"
COMMAND = ["recall", QUESTION, "--bank", "examples/bank", "-k", "2", "--passages", "1"]
WIDTH = 92
# Without the web font of rich's own template: the picture fetches nothing.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "D2Coding", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
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


def main() -> None:
    """Run the command in colour and write the picture."""
    done = subprocess.run(
        [sys.executable, "-m", "memtree", *COMMAND, "--color", "always"],
        cwd=ROOT, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    shown = " ".join(f'"{word}"' if " " in word else word for word in COMMAND)
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ memtree {shown}", style="bold"))
    console.print(Text.from_ansi(done.stdout))
    svg = console.export_svg(title="memtree", code_format=SVG, unique_id="memtree")
    (ROOT / "docs" / "recall.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
