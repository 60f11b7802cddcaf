"""Write the demo's table and picture into the README.

Usage: python tools/update_readme.py [--demo demo-out] [--chromium chromium]

Runs ``wordsight demo --json`` into the folder, replaces the table between the two marks in
README.md, and takes the picture of the exported board with headless Chromium. Run it when the demo
set, the demo's models or the board change; a test compares the table with a fresh run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- demo table -->", "<!-- end of demo table -->"
_CHROMIUM = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1.5",
    "--window-size=1280,900",
)


def markdown_table(demo: dict[str, Any]) -> str:
    """The board of ``wordsight demo --json`` as a Markdown table, percent with 95% intervals."""
    (track,) = demo["board"]["tracks"]
    (delta,) = track["deltas"]
    lines = [
        f"| rank | model | Hits@1 | MRR | {delta} | Hits@1 minus word |",
        "|---|---|---|---|---|---|",
    ]
    for row in track["rows"]:
        best, worst = row["rank"]
        rank = str(best) if best == worst else f"{best} to {worst}"
        base = row["versus_base"]
        cells = [
            rank,
            row["label"],
            *(_interval(row["scores"][name]) for name in ("hits1", "mrr")),
            _difference(row["deltas"][delta]),
            f"{_difference(base)}, p = {base['p_adjusted']:.2g}" if base else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _interval(estimate: dict[str, float]) -> str:
    value, low, high = (100 * estimate[name] for name in ("value", "low", "high"))
    return f"{value:.1f} ({low:.1f} to {high:.1f})"


def _difference(test: dict[str, float]) -> str:
    value, low, high = (100 * test[name] for name in ("difference", "low", "high"))
    return f"{value:+.1f} ({low:+.1f} to {high:+.1f})"


def main() -> None:
    """Run the demo and write README.md and docs/board.png."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demo", type=Path, default=Path("demo-out"))
    parser.add_argument("--chromium", default="chromium")
    options = parser.parse_args()
    done = subprocess.run(
        [sys.executable, "-m", "wordsight", "demo", "--json", "--output_path", options.demo],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    demo = json.loads(done.stdout)
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    text = f"{before}{START}\n{markdown_table(demo)}\n{END}{after}"
    readme.write_text(text, encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        page = Path(demo["page"]).resolve().as_uri()
        picture = ROOT / "docs" / "board.png"
        words = [*_CHROMIUM, f"--user-data-dir={profile}", f"--screenshot={picture}", page]
        subprocess.run([options.chromium, *words], check=True, capture_output=True)
    print(f"{readme.name} and {picture.relative_to(ROOT)} written")


if __name__ == "__main__":
    main()
