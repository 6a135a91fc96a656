"""Says in the morning what there is to know; an example of a script that names notes by path."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = {
    "plants": "bank/notes.md#물주기",
    "dates": "bank/notes.md#2026년-예약",
    "budget": "bank/world/tools.md",
}


def main() -> None:
    """Print where each section of the briefing comes from."""
    for name, place in SECTIONS.items():
        print(name, place, (ROOT / place.partition("#")[0]).exists())


if __name__ == "__main__":
    main()
