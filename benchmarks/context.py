"""What a host would have been given: recorded sessions are replayed in order, each prompt with only
its past captured.

    python benchmarks/context.py [--dump FILE]

All sessions share one workspace that grows: a directory for each project, sessions by the time they
began, prompts in order. Before each prompt the product's own recall is asked as the worker asks it;
then the turn is captured. Labels (context_labels.tsv) say for 100 prompts which earlier turns are
worth being told: transcript, turn of the prompt, + or -, turn that the memory is from. They were
made by reading what recall found, whatever its score; in brackets for prompts beyond these that
were told something. ``--dump`` writes what is found, with its text, for whoever labels; the data is
not part of the repository (KEEPLORE_DATA, or ../shared/data).
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import captured
import talks

from keeplore.config.machine import Machine
from keeplore.config.places import Places
from keeplore.config.settings import ContextSettings
from keeplore.recall.answer import recall
from keeplore.recall.brief import brief
from keeplore.recall.prepare import RecallDeps
from keeplore.recall.prompt_context import for_prompt, is_worth_asking, prompt_context
from keeplore.recall.render import TextBudget
from keeplore.recall.request import RecallHit, RecallRequest
from keeplore.recall.unasked.dedup import words_in
from keeplore.recall.unasked.workspace_view import InjectionHistory, WorkspaceView
from keeplore.recall.weights import PROMPT_CANDIDATES
from keeplore.text.query_terms import token_count
from keeplore.workspace.lifecycle.setup import initialise
from keeplore.workspace.workspace import Workspace
from keeplore_hooks.events import Compaction, HostEvent, Turn
from keeplore_hooks.hosts import Cursor
from keeplore_hooks.hosts.prompt_text import slash_command
from keeplore_hooks.installed import source_named

LABELS = Path(__file__).with_name("context_labels.tsv")
THRESHOLDS = (0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97)
SIZE = 10_000  # bytes that a host takes
WISHES = ContextSettings()


@dataclass(frozen=True, slots=True)
class Recorded:
    transcript: str  # path below the data folder
    project: str
    events: tuple[HostEvent, ...]

    @property
    def began(self) -> str:
        return min(event.at for event in self.events)


@dataclass(frozen=True, slots=True)
class Found:
    """A memory for a prompt, and the turns that it is from; its own id where it is from none."""

    hit: RecallHit
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt with what is found for it at any score, and the tokens that it was told."""

    transcript: str
    turn: str
    prompt: str
    found: tuple[Found, ...]
    tokens: float


@dataclass(slots=True)
class Session:
    """What a session was given."""

    briefs: list[float] = field(default_factory=list)  # tokens
    asked: list[Asked] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)  # memories that came beside a prompt
    words: set[str] = field(default_factory=set)  # keys of all that was shown
    has_lost: bool = False


def recorded(data: Path = talks.DATA) -> list[Recorded]:
    """The sessions in which a person speaks, the oldest first."""
    found = []
    for path in talks.sessions(data):
        parts = path.relative_to(data).parts
        events = source_named(parts[0]).read_transcript(path, Cursor()).events or tuple(
            captured.events(path, data)
        )
        folder = parts[2] if len(parts) > 3 and parts[2].startswith("-") else ""
        if any(isinstance(event, Turn) and event.user for event in events):
            project = f"{parts[1]}{folder}".strip("-").lower()
            found.append(Recorded(str(path.relative_to(data)), project, tuple(events)))
    return sorted(found, key=lambda one: one.began)


def replayed(sessions: list[Recorded]) -> Iterator[Session]:
    """What each session is given, in a workspace that holds what was said before."""
    with tempfile.TemporaryDirectory(prefix="keeplore-context-") as directory:
        home = Path(directory)
        places = Places(home / "state", home / "cache")
        made = initialise(places, home / "memory")
        known: set[str] = set()  # turns that a fork or a resumed session has again
        with Workspace(made.name, made.root, places, Machine.load(places)) as workspace:
            for one in sessions:
                cwd = home / "code" / one.project
                cwd.mkdir(parents=True, exist_ok=True)
                (cwd / ".keeplore-project").write_text(one.project)
                yield _replay(workspace, one, cwd, known)


def _replay(workspace: Workspace, one: Recorded, cwd: Path, known: set[str]) -> Session:
    session = Session()
    _brief(workspace, session, "", "startup", cwd)
    for event in one.events:
        taken = replace(event, origin=replace(event.origin, cwd=str(cwd)))
        if isinstance(taken, Turn) and taken.id not in known:
            known.add(taken.id)
            if taken.user and not slash_command(taken.user):
                session.asked.append(
                    _ask(workspace, session, one.transcript, taken, cwd)
                )
        workspace.emit(taken)
        _index(workspace)
        if isinstance(taken, Compaction) and taken.phase == "after":
            session.answers, session.words, session.has_lost = set(), set(), True
            _brief(workspace, session, taken.origin.session, "compact", cwd)
    with workspace.recorder.capturing():
        workspace.recorder.capture.close(workspace.sessions.get(one.events[-1].origin))
    _index(workspace)
    return session


def _brief(
    workspace: Workspace, session: Session, own: str, source: str, cwd: Path
) -> None:
    view = WorkspaceView(
        workspace.index, workspace.store, workspace.identities.here(cwd).scopes
    )
    text, _ = brief(
        [view],
        session=own,
        source=source,
        room=TextBudget(WISHES.brief_tokens, SIZE),
        history=InjectionHistory(),
    )
    session.briefs.append(token_count(text))
    session.words |= words_in(text)


def _ask(
    workspace: Workspace, session: Session, transcript: str, turn: Turn, cwd: Path
) -> Asked:
    """What the session would be told, and beside that what there is below the threshold."""
    now = datetime.fromisoformat(turn.at) if turn.at else datetime.now(UTC)
    own = "" if session.has_lost else turn.origin.session
    already = session.answers if is_worth_asking(turn.user) else _Everything()
    tokens, found = 0.0, []
    for threshold in (WISHES.threshold, 0.0):
        unasked = for_prompt(
            threshold, already=already, words=session.words, session=own
        )
        here = workspace.identities.here(cwd)
        answer = recall(
            RecallDeps(workspace.index, workspace.store, embedder=workspace.embedder),
            RecallRequest(
                turn.user, limit=PROMPT_CANDIDATES, at_once=True, filter=unasked
            ),
            here,
            now=now,
        )
        if threshold:
            text, ids = prompt_context(
                answer, room=TextBudget(WISHES.prompt_tokens, SIZE)
            )
            tokens = token_count(text)
        else:
            found = [Found(hit, _turns(workspace, hit)) for hit in answer.hits]
    session.answers |= {*ids}
    session.words |= words_in(text)
    return Asked(transcript, turn.id, turn.user, tuple(found), tokens)


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True


def _turns(workspace: Workspace, hit: RecallHit) -> tuple[str, ...]:
    source = workspace.store.load(hit.path).source
    return (hit.turn,) if hit.turn else tuple(source.get("turns") or (hit.memory_id,))


def _index(workspace: Workspace) -> None:
    workspace.index.refresh()
    workspace.index.embed_pending()


def labels() -> tuple[dict[tuple[str, str], dict[str, bool]], set[tuple[str, str]]]:
    """Transcript and turn of a prompt → turns that were judged; and which prompts are those of the
    sample.
    """
    found: dict[tuple[str, str], dict[str, bool]] = {}
    sample = set()
    with LABELS.open(encoding="utf-8", newline="") as file:
        for transcript, prompt, given, turn in csv.reader(file, delimiter="\t"):
            judged = found.setdefault((transcript, prompt), {})
            judged[turn] = judged.get(turn, False) or "+" in given
            sample |= {(transcript, prompt)} if given in "+-" else set()
    return found, sample


def verdict(found: Found, judged: dict[str, bool]) -> bool | None:
    """Whether it is worth being told; None where nobody judged it."""
    known = [judged[turn] for turn in found.turns if turn in judged]
    return any(known) if known else None


def show_precision(asked: list[Asked]) -> None:
    judged, chosen = labels()
    print(
        f"\nof {len(chosen)} labelled prompts, and in the last two columns of all {len(asked)}"
    )
    print("threshold  lines  judged  right  precision  prompts  helped | told  share")
    for threshold in THRESHOLDS:
        told = [
            one
            for one in asked
            if any(found.hit.score >= threshold for found in one.found)
        ]
        figures = _figures(
            [one for one in told if (one.transcript, one.turn) in chosen],
            judged,
            threshold,
        )
        print(
            f"{threshold:9.2f} {figures} | {len(told):4} {len(told) / len(asked):6.2f}"
        )
    told = [one for one in asked if one.tokens]
    print(
        f"all that is told:\n{WISHES.threshold:9.2f} {_figures(told, judged, WISHES.threshold)}"
    )


def _figures(
    told: list[Asked], judged: dict[tuple[str, str], dict[str, bool]], threshold: float
) -> str:
    lines = [
        (one, found)
        for one in told
        for found in one.found[:3]
        if found.hit.score >= threshold
    ]
    verdicts = [
        verdict(found, judged.get((one.transcript, one.turn), {}))
        for one, found in lines
    ]
    right, known = sum(bool(v) for v in verdicts), sum(v is not None for v in verdicts)
    helped = {
        (one.transcript, one.turn)
        for (one, _), v in zip(lines, verdicts, strict=True)
        if v
    }
    return (
        f"{len(lines):6} {known:7} {right:6} {right / max(known, 1):10.2f} {len(told):8} "
        f"{len(helped):7}"
    )


def main(dump: Path | None) -> int:
    sessions = list(replayed(recorded()))
    asked = [one for session in sessions for one in session.asked]
    totals = sorted(
        sum(session.briefs) + sum(one.tokens for one in session.asked)
        for session in sessions
    )
    first = [session.briefs[0] for session in sessions]
    later = [tokens for session in sessions for tokens in session.briefs[1:]]
    told = [one.tokens for one in asked if one.tokens]
    print(
        f"{len(sessions)} sessions, {len(asked)} prompts, {len(told)} told something "
        f"({len(told) / len(asked):.0%})"
    )
    for name, values in (
        ("a brief", first),
        ("after a compaction", later),
        ("a prompt that is told", told),
    ):
        if values:
            print(
                f"tokens of {name}: median {statistics.median(values):.0f}, most {max(values):.0f} "
                f"({len(values)})"
            )
    p90 = totals[len(totals) * 9 // 10]
    print(
        f"tokens a session: median {statistics.median(totals):.0f}, p90 {p90:.0f}, most "
        f"{totals[-1]:.0f}"
    )
    if LABELS.exists():
        show_precision(asked)
    if dump:
        with dump.open("w", encoding="utf-8") as file:
            for one in asked:
                hits = [
                    {**_plain(found.hit), "turns": found.turns} for found in one.found
                ]
                row = {
                    "transcript": one.transcript,
                    "turn": one.turn,
                    "prompt": one.prompt,
                    "hits": hits,
                }
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return 0


def _plain(hit: RecallHit) -> dict[str, object]:
    return {
        name: getattr(hit, name)
        for name in ("score", "memory_id", "kind", "trust", "title", "passage")
    }


if __name__ == "__main__":
    arguments = sys.argv[1:]
    sys.exit(main(Path(arguments[1]) if arguments[:1] == ["--dump"] else None))
