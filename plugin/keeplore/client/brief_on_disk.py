"""The brief that lies on disk for each directory in which agents work, so that a session need not
wait for a worker, and what clients and the worker tell each other of it.

Whoever writes memory makes it; a client prints it as it stands, if everything that it was made from
is as it was. The formats: docs/spool.md.
"""
# what a client loads where a session starts: contextlib, pathlib and hashlib take longer than this
# ruff: noqa: PTH103, PTH105, PTH108, PTH110, PTH113, PTH116, PTH117, PTH118, PTH120, PTH123

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # without a module that takes a while to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Ask = Callable[..., bytes | None]  # ``ask`` of the client

# the program has the other one already
json = __import__("quick_json" if __name__ == "brief_on_disk" else "json")
FOLDER = "briefs"
GIVEN = "given"  # in it: what clients printed, for the worker to note
OWED = "owed"  # in it: sessions that were given nothing at their start
ANYWHERE = (
    ""  # in place of a directory: the brief for those that have none of their own
)
REST = "rest"  # why a session is owed a brief that was told a part of it
COMPACT = "compact"
COMPACTIONS = ("sessioncompacted",)  # events that name no reason
# what a session that goes on is told depends on what it has heard
GOING_ON = ("resume", "fork", REST)
# hosts that put a brief into the system prompt, which no session keeps: after a compaction they go
# on with the one they have, behind which their cache holds
STANDING_BRIEF = ("opencode",)
# a subagent is told nothing, nor an agent in the background, whose answers nobody reads here
AGENTS = ("agent_id", "subagent_id", "parentID", "is_background_agent")
# of other hosts that run Claude Code's entries, and take other replies
BORROWED = ("cursor_version", "conversation_id", "sessionId", "timestamp", "turn_id")
SESSIONS = ("session_id", "sessionId", "conversation_id", "sessionID")
DIRECTORIES = ("cwd", "directory")
MARKER = ".keeplore-project"
# a worker that runs is given this long where there is a brief on disk, one where somebody has
# changed memory since that
READY_S = 0.5
CHANGED_S = 1.0
# a brief on disk that is none, a payload that names no session
UNUSABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    StopIteration,
    RecursionError,
)
MAX_REFS = 4_000_000  # bytes
MAX_READ = 4_000_000  # of a file that may have changed
SHOWN_FILES = 3
# what was known of a file when the brief was made
FRESH, CHANGED, GONE = "fresh", "changed", "gone"


class DiskBrief:
    """A brief that may be told; with ``is_newest`` nobody has changed memory since.

    One ``is_whole`` unless it was made for any directory, and where the session has lost what it
    said itself: the next prompt then brings the rest.
    """

    def __init__(self, made: dict[str, Any], reply: bytes, told: Any, why: str) -> None:
        self.reply = reply
        self.told = told  # its text, and the ids of the memories in it
        self.why = why  # the reason for which it is told
        self.is_newest = is_newest(made)
        self.is_whole = made["directory"] != ANYWHERE and why != COMPACT


class SessionPayload:
    """A payload of a session, where it came, and whose it is."""

    def __init__(self, state: str, host: str, event: str, payload: bytes) -> None:
        self.state = state
        self.host = host
        self.event = event
        self.payload = payload


class WorkerCall:
    """What is asked of the worker, how, and until when."""

    def __init__(
        self, ask: Ask, request: bytes, deadline: float, *, is_patient: bool
    ) -> None:
        self.ask = ask
        self.request = request
        self.deadline = deadline
        self.is_patient = is_patient

    def answer(
        self, state: str, brief: DiskBrief | None = None, *, can_wait: bool = False
    ) -> bytes | None:
        """The worker's reply, None for none in time. It is given less time where there is a brief
        on disk, or where what it has to say ``can_wait``. Raises OSError where Keeplore is not
        there.
        """
        deadline = self.deadline
        is_ready = can_wait or (brief is not None and brief.is_newest)
        # a worker that runs knows best what a session said that has just lost it
        if brief and brief.why != COMPACT:
            wait_s = READY_S if is_ready else CHANGED_S
            deadline = min(deadline, time.monotonic() + wait_s)
        try:
            return self.ask(
                state,
                self.request,
                deadline,
                is_patient=self.is_patient and not is_ready,
                is_hurried=is_ready,
            )
        except (TimeoutError, ConnectionError):
            return None


def begin(session: SessionPayload, call: WorkerCall) -> bytes:
    """The brief for a session that starts: the worker's, else the one on disk; else the first
    prompt is to bring it. Raises OSError where Keeplore is not there.
    """
    brief = usable(session)
    reply = call.answer(session.state, brief, can_wait=goes_on(session))
    return reply_from_disk(session, brief) if reply is None else reply


def reply_from_disk(session: SessionPayload, brief: DiskBrief | None) -> bytes:
    """The brief on disk, or a note that the session was told nothing."""
    reply = b""
    try:
        if brief and (brief.reply or not brief.told[0]):
            reply = brief.reply
            note_given(session, brief)
        else:
            note_owed_brief(session)
    except UNUSABLE:
        pass
    return reply


def go_on(session: SessionPayload, call: WorkerCall) -> bytes:
    """What belongs to a prompt; where a brief is owed and the worker is silent, the one on disk.
    Raises OSError where Keeplore is not there.
    """
    source = owed(session.state, session.host, session.payload)
    reply = call.answer(session.state)
    if reply is None and source is not None:
        reply = late_reply(session, source)
    return reply or b""


def late_reply(session: SessionPayload, source: str) -> bytes:
    """The brief on disk, for a session that was given none at its start; where none can be used it
    is owed still, and the answer is b"".
    """
    try:
        # a worker that was too slow has taken it
        note_owed_brief(session, source)
        brief = usable(session, source)
        if brief:
            take_owed(session.state, session.host, session.payload)
            note_given(session, brief)
            return brief.reply
    except UNUSABLE:
        pass
    return b""


def usable(session: SessionPayload, source: str = "") -> DiskBrief | None:
    """What can be told to a session without a worker; ``source`` is why it started."""
    try:
        return find_brief(session, source)
    except UNUSABLE:
        return None


def goes_on(session: SessionPayload) -> bool:
    """Is it one that holds what it was told before? The next prompt brings what is new."""
    try:
        return reason_in(json.loads(session.payload), session.event) in GOING_ON
    except UNUSABLE:
        return False


def find_brief(session: SessionPayload, source: str) -> DiskBrief | None:
    """The brief of a session's directory, else the one for any directory; None for a session that
    gets none. Raises OSError, ValueError, LookupError, TypeError or AttributeError where none can
    be used.
    """
    data = json.loads(session.payload)
    is_other = session.host == "claude-code" and any(key in data for key in BORROWED)
    why = source or reason_in(data, session.event)
    # memory of an agent that has a name is not in a brief that is told to all
    for_others = any(data.get(key) for key in (*AGENTS, "agent_type"))
    has_one = why in GOING_ON or (why == COMPACT and session.host in STANDING_BRIEF)
    if is_other or has_one or for_others:
        return None
    directory = root_of(directory_in(data))
    try:
        return made_for(directory, session, why)
    except UNUSABLE:
        return made_for(ANYWHERE, session, why)


def reason_in(data: dict[str, Any], event: str) -> str:
    """Why a session starts, "" where its host does not say."""
    return COMPACT if event.lower() in COMPACTIONS else str(data.get("source") or "")


def made_for(directory: str, session: SessionPayload, why: str) -> DiskBrief:
    """The brief that was made for a directory, with the files that have changed since. Raises as
    ``find_brief`` does.
    """
    with open(path_for(session.state, directory), "rb") as file:
        made = json.loads(file.read())
    if made["directory"] != directory or not is_untouched(made):
        raise LookupError("it is another directory's, or what it was made from changed")
    reply = made["printed"][session.host][session.event.lower()]
    text, ids = made["told"][session.host]
    for mark, files in made["slots"]:
        if mark in text:
            end = line_end(files_since(files))
            text = text.replace(mark, end)
            reply = reply.replace(mark, json.dumps(end)[1:-1])
    return DiskBrief(made, reply.encode(), [text, ids], why)


def files_since(files: list[Any]) -> str:
    """What became of the files of a line; each has its shown name, its path, and its stamp, its
    digest and its state when the brief was made.
    """
    states = [(name, state_of(*known)) for name, *known in files]
    changed = [name for name, state in states if state == CHANGED]
    return since_then(changed, [name for name, state in states if state == GONE])


def state_of(path: str, stamped: list[int] | None, content: str, known: str) -> str:
    """The state of a file now, "" where that cannot be told: what had changed may be as it was
    again, and so may what was gone.
    """
    found = stamp(path)
    if found == stamped or (found and stamped and checksum_of(path) == content != ""):
        return known
    if found is None:
        return GONE
    return CHANGED if known == FRESH else ""


def since_then(changed: list[str], gone: list[str]) -> str:
    """What became of files, "" where they are as they were."""
    changes = []
    for names, word in ((changed, CHANGED), (gone, GONE)):
        more = ", …" if len(names) > SHOWN_FILES else ""
        if names:
            changes.append(f"{word} since: {', '.join(names[:SHOWN_FILES])}{more}")
    return " and ".join(changes)


def line_end(since: str) -> str:
    return f" — {since}" if since else ""


def checksum_of(path: str) -> str:
    """Size and checksum of a file; "" for one that is not a plain file of moderate size."""
    try:
        found = os.stat(path)
        if found.st_mode & 0o170000 != 0o100000 or found.st_size > MAX_READ:
            return ""
        from binascii import crc32  # here, because few files were written to

        with open(path, "rb") as file:
            return f"{found.st_size}:{crc32(file.read(MAX_READ))}"
    except (OSError, ValueError):
        return ""


def is_untouched(made: dict[str, Any]) -> bool:
    """Is every file that it was made from as it was? Then nothing in it was changed or removed."""
    return all(stamp(path) == seen for path, seen in made["files"])


def is_newest(made: dict[str, Any]) -> bool:
    """Is every workspace at the commit at which it was?"""
    return all(head and head_of(root) == head for root, head in made["heads"])


def directory_in(data: dict[str, Any]) -> str:
    """The directory that a payload names. Raises LookupError."""
    found = (data.get("workspace_roots") or [None])[0]
    for key in DIRECTORIES:
        found = found or data.get(key)
    if not (isinstance(found, str) and os.path.isabs(found)):
        raise LookupError("a payload names no directory")
    return found


def root_of(directory: str) -> str:
    """The root of the git checkout that a directory is in; the directory itself outside of one."""
    place, below = directory, ""
    while place != below:
        if os.path.exists(os.path.join(place, ".git")):
            return place
        place, below = os.path.dirname(place), place
    return directory


def path_for(state: str, directory: str) -> str:
    return os.path.join(state, FOLDER, f"{digest(directory)}.json")


def digest(text: str) -> str:
    """FNV-1a, 64 bits: Python's own hashes take longer to import. A collision does no harm, since a
    file that is named so says what it is of.
    """
    found = 0xCBF29CE484222325
    for byte in text.encode("utf-8", "surrogatepass"):
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{found:016x}"


def stamp(path: str) -> list[int] | None:
    """Values that differ once a file has changed or a directory was replaced by another; None where
    there is nothing.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    is_directory = found.st_mode & 0o170000 == 0o040000
    if is_directory:
        return [found.st_ino]
    return [found.st_ino, found.st_size, found.st_mtime_ns]


def stamps_around(directory: str) -> list[list[Any]]:
    """What says which project a directory is of: the checkout around it, its remotes, a marker."""
    found: list[list[Any]] = []
    place, above = directory, ""
    while place != above:
        git = os.path.join(place, ".git")
        found += [[path, stamp(path)] for path in (git, os.path.join(place, MARKER))]
        if os.path.exists(git):
            config = os.path.join(common_directory(git_directory(place)), "config")
            return [*found, [config, stamp(config)]]
        place, above = os.path.dirname(place), place
    return found


def head_of(root: str) -> str:
    """The commit that a checkout is at, "" where that cannot be told at once."""
    git = git_directory(root)
    head = text_of(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head[len("ref: ") :]
    common = common_directory(git)
    found = text_of(os.path.join(common, name))
    if found:
        return found
    packed = text_of(os.path.join(common, "packed-refs"), MAX_REFS)
    lines = (line.split(" ") for line in packed.splitlines())
    return next((line[0] for line in lines if line[1:] == [name]), "")


def git_directory(root: str) -> str:
    git = os.path.join(root, ".git")
    named = text_of(git) if os.path.isfile(git) else ""
    return os.path.join(root, named[len("gitdir: ") :]) if named else git


def common_directory(git: str) -> str:
    """The git directory of the main checkout, for a worktree; else the checkout's own."""
    return os.path.join(git, text_of(os.path.join(git, "commondir")))


def text_of(path: str, most: int = 4096) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(most).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def note_given(session: SessionPayload, brief: DiskBrief) -> None:
    """Say what a session was given, so that it is not given again, and owe it what that lacks.
    Raises OSError.
    """
    note = {
        "host": session.host,
        "event": session.event,
        "payload": json.loads(session.payload),
        "told": brief.told,
        "source": brief.why,
        "is_part": not brief.is_whole and brief.why != COMPACT,
    }
    put(session.state, GIVEN, os.urandom(8).hex(), json.dumps(note))
    if not brief.is_whole:
        note_owed_brief(session, REST)


def note_owed_brief(session: SessionPayload, source: str = "") -> None:
    """Say that a session was given nothing at its start. Raises OSError, ValueError or
    LookupError.
    """
    data = json.loads(session.payload)
    if not any(data.get(key) for key in AGENTS):
        why = source or reason_in(data, session.event)
        put(session.state, OWED, name_of(session.host, data), why)


def owed(state: str, host: str, payload: bytes) -> str | None:
    """Why a session started that was given no brief at its start; None for other sessions."""
    try:
        with open(owed_path(state, host, payload), encoding="utf-8") as file:
            return file.read(64)
    except (OSError, ValueError, LookupError, AttributeError):
        return None


def take_owed(state: str, host: str, payload: bytes) -> str | None:
    """Like ``owed``, and the brief is no longer owed afterwards."""
    source = owed(state, host, payload)
    if source is not None:
        os.unlink(owed_path(state, host, payload))
    return source


def owed_path(state: str, host: str, payload: bytes) -> str:
    return os.path.join(state, FOLDER, OWED, name_of(host, json.loads(payload)))


def name_of(host: str, data: dict[str, Any]) -> str:
    """What a session's file is called. Raises LookupError where the payload names none."""
    session = next((data[key] for key in SESSIONS if data.get(key)), None)
    if not isinstance(session, str):
        raise LookupError("a payload names no session")
    return digest(f"{host}\0{session}")


def put(state: str, folder: str, name: str, text: str) -> None:
    """Write a whole file or none."""
    place = os.path.join(state, FOLDER, folder)
    os.makedirs(place, 0o700, exist_ok=True)
    aside = os.path.join(state, FOLDER, f"{name}.{os.getpid()}.tmp")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
    os.replace(aside, os.path.join(place, name))
