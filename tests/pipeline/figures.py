"""What the proofs found, for docs/correctness.md: run as a script, it writes the page.

python tests/pipeline/figures.py
"""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
FIGURES = REPOSITORY / "target" / "proof.jsonl"
PAGE = REPOSITORY / "docs" / "correctness.md"
HEAD = """# Correctness

What `make proof` found, written by it on {date} at commit {commit}. Each line is a test under
`tests` that fails when a figure is not as it must be. It was last proved at the commit in
its last column, and not since; what is not here has not been shown.

A *history* is a random run of a database and its connector, and an *arrival* a random order in
which a recording lands. *Wrong* is a table that differs from the database at the commit that its
cut names; *not the largest*, a cut behind which a later commit could be proved from what had
landed; *lost*, a landed message of which nothing became. A table that a recording does not
determine (with REPLICA IDENTITY USING INDEX) is not compared; `UNDETERMINED` in
tests/pipeline/test_captures.py names it.

| proof | found | seed | date | commit |
|---|---|---|---|---|
"""


def record(proof: str, found: str, seed: int | None = None) -> None:
    """Keep what a proof found; a later run of the same proof replaces it.

    Args:
        proof: what is claimed, as a sentence without its end.
        found: the figures.
        seed: what makes the same inputs again.
    """
    FIGURES.parent.mkdir(exist_ok=True)
    with FIGURES.open("a", encoding="utf-8") as file:
        entry = {"proof": proof, "found": found, "seed": seed, "date": today(), "commit": commit()}
        file.write(json.dumps(entry) + "\n")


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return ended.stdout.strip() or "unknown"


def write_page() -> None:
    """Write the page, from what this and earlier runs found."""
    entries = {
        cells[0]: line
        for line in (PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else [])
        if line.startswith("| ") and (cells := line.strip("| ").split(" | ")) and len(cells) == 5
        if cells[0] != "proof"
    }
    for line in FIGURES.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        seed = "-" if one["seed"] is None else one["seed"]
        row = (one["proof"], one["found"], seed, one["date"], one["commit"])
        entries[one["proof"]] = f"| {' | '.join(map(str, row))} |"
    head = HEAD.format(date=today(), commit=commit())
    PAGE.write_text(head + "".join(f"{line}\n" for line in entries.values()), encoding="utf-8")


if __name__ == "__main__":
    write_page()
