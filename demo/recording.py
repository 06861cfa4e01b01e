"""``make recording``: docs/recording.svg, the picture of the README, from real runs of commands.

The session of ``demo/session.py`` is laid down as Claude Code records it; then a fresh home runs
what a person would type. Directory, session and times are fixed, so two runs give the same bytes
but where a command prints something else than before.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from shutil import rmtree

from demo.machine import Machine
from demo.session import create_project, play

PICTURE = Path(__file__).parents[1] / "docs" / "recording.svg"
HOME = Path(
    "/tmp/keeplore-recording"
)  # always the same, since ids are made of paths too
SESSION_AT = datetime(2026, 2, 9, 10, 2, tzinfo=UTC)
PROJECT = "code/ledgerly"
TYPED = (  # directory below the home, what is typed there
    ("", "keeplore init memory"),
    ("", "keeplore import claude-code"),
    (
        PROJECT,
        'keeplore recall "why did we drop Redis?" --limit 1',
    ),
    (PROJECT, 'keeplore recall "which colour has the login button"'),
)
COLUMNS = 96
CHARACTER = 8.4  # pixels: the advance of a monospaced letter of FONT_SIZE
FONT_SIZE = 14  # pixels
LINE = 20  # pixels
MARGIN = 20  # pixels
STILL_S = 4.0  # everything is shown first, so that a still picture is a whole one
STEP_S = 1.2  # from a prompt to its output, and on to the next prompt
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img" aria-labelledby="title">
<title id="title">Keeplore in a terminal: sessions are imported and questions are asked</title>
<style>{style}</style>
<rect class="panel" x="1" y="1" width="99.8%" height="99.8%" rx="8"/>
{drawing}
</svg>
"""
STYLE = """
.panel { fill: #f6f8fa; stroke: #8c959f } text { fill: #1f2328 }
.prompt { fill: #1a7f37; font-weight: bold } .typed { font-weight: bold }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  white-space: pre }
@media (prefers-color-scheme: dark) {
  .panel { fill: #161b22; stroke: #6e7681 } text { fill: #e6edf3 }
  .prompt { fill: #56d364 }
}
"""


def main() -> int:
    PICTURE.write_text(draw(list(record())), encoding="utf-8")
    print(f"wrote {PICTURE}")
    return 0


def record() -> Iterator[tuple[str, str, str]]:
    """Directory, command and output of everything in ``TYPED``, run in a fresh home."""
    HOME.mkdir()
    try:
        machine = Machine(HOME)
        project = HOME / PROJECT
        create_project(project)
        for _ in play(HOME, project, SESSION_AT):
            pass  # the transcript is what counts: no event is sent
        for transcript in (HOME / ".claude").rglob("*.jsonl"):
            os.utime(transcript, (SESSION_AT.timestamp(),) * 2)
        for directory, line in TYPED:
            arguments = shlex.split(line)[1:]
            done = machine.keeplore(*arguments, cwd=HOME / directory, check=False)
            yield (
                f"~/{directory}".rstrip("/"),
                line,
                done.stdout.decode().replace(str(HOME), "~"),
            )
        machine.stop_worker()
    finally:
        rmtree(HOME, ignore_errors=True)


def draw(runs: list[tuple[str, str, str]]) -> str:
    """One picture of a terminal, in which the runs appear one after the other."""
    groups, row = [], 0
    for number, (directory, command, output) in enumerate(runs):
        lines = list(wrapped(output))
        printed = [
            text_at(row + 1 + place, escape(line)) for place, line in enumerate(lines)
        ]
        groups.append(
            group(f"typed{number}", [text_at(row, prompt(directory, command))])
        )
        groups.append(group(f"printed{number}", printed))
        row += len(lines) + 2
    width, height = round(COLUMNS * CHARACTER + 2 * MARGIN), row * LINE + 2 * MARGIN
    return FRAME.format(
        width=width,
        height=height,
        style=STYLE + animation(len(runs)),
        drawing="\n".join(groups),
    )


def prompt(directory: str, command: str) -> str:
    typed = escape(command, quote=False)
    return f'<tspan class="prompt">{directory} $</tspan> <tspan class="typed">{typed}</tspan>'


def wrapped(output: str) -> Iterator[str]:
    for line in output.rstrip("\n").splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        yield from textwrap.wrap(line, COLUMNS, subsequent_indent=indent) or [""]


def text_at(row: int, content: str) -> str:
    return (
        f'<text x="{MARGIN}" y="{row * LINE + 2 * MARGIN}">{content}</text>'
        if content
        else ""
    )


def group(name: str, lines: list[str]) -> str:
    return "\n".join([f'<g id="{name}">', *filter(None, lines), "</g>"])


def animation(count: int) -> str:
    """Styles that show all, then each command and its output one after the other, once."""
    whole_s = STILL_S + (2 * count + 1) * STEP_S
    rules = []
    for step in range(2 * count):
        name = f"{'printed' if step % 2 else 'typed'}{step // 2}"
        hidden = round(100 * STILL_S / whole_s)
        shown = round(100 * (STILL_S + (step + 1) * STEP_S) / whole_s)
        frames = f"{hidden}% {{ opacity: 1 }} {hidden + 1}%, {shown}% {{ opacity: 0 }}"
        rules.append(f"@keyframes {name} {{ {frames} }}")
        rules.append(f"#{name} {{ animation: {name} {whole_s:.1f}s }}")
    still = (
        "@media (prefers-reduced-motion: reduce) { g { animation: none !important } }"
    )
    return "\n".join([*rules, still, ""])


if __name__ == "__main__":
    sys.exit(main())
