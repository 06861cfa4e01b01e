"""A working day with one host: what its model was sent, and what stood in the files."""

from __future__ import annotations

import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from model_server import Call, Request, Step

from keeplore.connect.payload_drift import Counts, counted

from .lab import HostLab

OPTIONS_ASKED = "Which queue should hold the jobs of the billing service?"
OPTIONS = "Two options: a Postgres table, or Redis. I recommend the table."
DECISION = "Let's go with the Postgres table, because a job and its invoice are one transaction."
AGREED = "Agreed: the jobs go into a Postgres table."
CORRECTION = (
    "No, the staging database runs on db7, not on db3. Write that into staging.txt."
)
CORRECTED = "Corrected: staging is on db7."
INTERRUPTED = "Write the migration that creates the jobs table."
BEGUN = "I begin with the columns of the table."
KILLED = "Continue with the index on the run date."
CUT = "The index comes next."
# to Gemini CLI a question mark is a key of its own while it takes a session up again
RESUMED = "Tell me where we were with the migration"
WHERE = "The columns are planned and the index is open."
UNRELATED = "Tell me how many legs a spider has"
EIGHT = "Eight."
REMEMBERED = "Tell me which queue we chose for the jobs of the billing service"
TABLE = "The Postgres table, as you decided."
# of a memory that every session of the project is told, and of the file that it names
PLAN = "The plan of the quarter stands in @plan.txt"
PLANNED = "Ledgers first, invoices in March"
# typed behind the command that keeps it
KEPT = "We deploy on Fridays, before lunch"
PROMPTS = (
    OPTIONS_ASKED,
    DECISION,
    CORRECTION,
    INTERRUPTED,
    KILLED,
    RESUMED,
    UNRELATED,
    REMEMBERED,
)

NONE = (0, b"")
State = dict[str, tuple[int, bytes]]


@dataclass
class Played:
    """What came of it. ``requests`` are all that the server received; ``stages`` says with how
    many of them each stage began.
    """

    host: str
    requests: list[Request] = field(default_factory=list)
    stages: dict[str, int] = field(default_factory=dict)
    # how often each prompt had to be typed until the host took it
    typed: Counter[str] = field(default_factory=Counter)
    # files of the workspace when the host was left, after an import, and the messages of that
    memory: dict[str, str] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    # what the host sent that no adapter knows
    unknown: Counts = field(default_factory=dict)
    # what `keeplore connect` wrote, as it was before and after `keeplore disconnect`
    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)

    def asked(self, prompt: str) -> list[Request]:
        """The requests that the host made for a prompt of the session."""
        names = [*self.stages, ""]
        first = self.stages[prompt]
        last = self.stages.get(names[names.index(prompt) + 1], len(self.requests))
        return [request for request in self.requests[first:last] if request.tools]


def play(lab: HostLab) -> Played:
    """Connect, work, be interrupted, killed and resumed, begin anew, import, disconnect."""
    played = Played(lab.host.name, lab.server.requests)
    write_script(lab)
    (lab.project / "plan.txt").write_text(PLANNED, encoding="utf-8")
    untouched = tree(lab)
    lab.connect()
    written = {
        path for path, is_now in tree(lab).items() if untouched.get(path) != is_now
    }
    played.before = contents(untouched, written)
    lab.machine.keeplore("remember", "--permanent", PLAN, cwd=lab.project)
    work(lab, played)
    come_back(lab, played)
    begin_anew(lab, played)
    played.stages[KEPT] = len(played.requests)
    lab.command("remember", KEPT)
    lab.settle()
    played.unknown = counted(lab.machine.state)
    played.memory = texts(lab.memory)
    lab.machine.keeplore("import", lab.host.name)
    played.imported = texts(lab.memory)
    lab.disconnect()
    played.after = contents(tree(lab), written)
    return played


def write_script(lab: HostLab) -> None:
    script = lab.server.script
    look = Call(lab.host.shell, {lab.host.command: "ls -la", "description": "List"})
    line = "echo db7 > staging.txt"
    write = Call(lab.host.shell, {lab.host.command: line, "description": "Write"})
    script.answer(OPTIONS_ASKED, Step("Let me look.", (look,)), OPTIONS)
    script.answer(DECISION, AGREED)
    script.answer(CORRECTION, Step("I write it down.", (write,)), CORRECTED)
    script.answer(INTERRUPTED, Step(BEGUN, hangs=True))
    script.answer(KILLED, Step(CUT, hangs=True))
    script.answer(RESUMED, WHERE)
    script.answer(UNRELATED, EIGHT)
    script.answer(REMEMBERED, TABLE)


def work(lab: HostLab, played: Played) -> None:
    """The first session, which ends in a power cut."""
    with lab.open() as session:
        for prompt, answer in (
            (OPTIONS_ASKED, OPTIONS),
            (DECISION, AGREED),
            (CORRECTION, CORRECTED),
        ):
            played.stages[prompt] = len(played.requests)
            session.say(prompt, answer)
        played.stages["compaction"] = len(played.requests)
        session.compact()
        for prompt in (INTERRUPTED, KILLED):
            played.stages[prompt] = len(played.requests)
            session.begin(prompt)
            if prompt == INTERRUPTED:
                session.interrupt()
        played.typed += session.typed


def come_back(lab: HostLab, played: Played) -> None:
    with lab.open(resume=True) as session:
        played.stages[RESUMED] = len(played.requests)
        session.say(RESUMED, WHERE)
        played.typed += session.typed
        session.end()
    lab.settle()


def begin_anew(lab: HostLab, played: Played) -> None:
    with lab.open() as session:
        for prompt, answer in ((UNRELATED, EIGHT), (REMEMBERED, TABLE)):
            played.stages[prompt] = len(played.requests)
            session.say(prompt, answer)
        played.typed += session.typed
        session.end()
    lab.settle()


def texts(folder: Path) -> dict[str, str]:
    """Every file of a workspace but git's own."""
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def contents(state: State, paths: set[str]) -> dict[str, bytes]:
    """Those of the paths that are files with something in them; a folder of ours may hold files of
    the host by now.
    """
    return {path: state[path][1] for path in paths if state.get(path, NONE)[1]}


def tree(lab: HostLab) -> State:
    """Every path of the home with rights and bytes, but for what is Keeplore's own."""
    home = lab.machine.home
    own = {home / name for name in ("state", "cache", "memory")}
    return {
        str(path.relative_to(home)): (
            stat.S_IMODE(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in home.rglob("*")
        if own.isdisjoint((path, *path.parents))
    }
