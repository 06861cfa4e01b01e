"""What ``client.py`` does: spool one host event, then ask the worker what to tell the host.

Prints nothing or the worker's reply, one JSON object, and exits 0 whatever happens: a host must
never suffer from its memory. It parses nothing, and imports only what costs next to nothing: a
person waits. ``_socket`` is what ``socket`` wraps, without the milliseconds of the wrapper's
imports. Any Python from 3.8 will do. On Windows it spools and asks nothing. Where Keeplore is not
set up, it says so once a day at a session's start. Formats: docs/spool.md."""
# pathlib, contextlib and subprocess take longer to import than all of this takes to run:
# ruff: noqa: PTH102, PTH103, PTH104, PTH108, PTH116, PTH117, PTH118
# ruff: noqa: PTH120, PTH123, PTH208, S606, SIM105

import _socket
import os
import select
import sys
import time

TYPE_CHECKING = False  # without a module that takes a while to import
if TYPE_CHECKING:
    from types import ModuleType

CLIENT = "0.1.0"
DEADLINE_S = 0.3  # wall time in all; then the host goes on without us
BEGINNINGS = ("sessionstart", "sessioncreated")  # nobody has typed yet
# or the host has just taken long to shorten its context
BRIEFED = (*BEGINNINGS, "sessioncompacted")
# or somebody typed a command of Keeplore's
PATIENT = (*BRIEFED, "userpromptexpansion", "commandexecutebefore")
# may be such a command
PROMPTS = (
    "userpromptsubmit",
    "userpromptsubmitted",
    "beforeagent",
    "beforesubmitprompt",
)
TURNS = (*PROMPTS, "chatmessage")
# how a JSON string begins that is one, typed as hosts without an event of their own for it take it
MARKS = ("/keeplore:", "/keeplore-", "/keeplore/", "$keeplore:", "$keeplore-")
OWN = tuple(
    f'"{mark}{name}'.encode()
    for mark in (*MARKS, "[$keeplore:", "[$", "$")
    for name in ("remember", "recall", "forget", "memory")
)
# and where a host sends the text of the command in its place
OWN_TEXTS = tuple(
    f'"# {name}\\n'.encode() for name in ("Remember", "Recall", "Forget", "Memory")
)
OWN_MAX = 100_000  # bytes; nobody types so much behind a command
PATIENT_DEADLINE_S = 1.5  # the worker may have to be started
# asked before an edit, whose payload holds a whole file, and by an agent that has said nothing
UNKEPT = ("pretooluse", "subagentstart")
RETRY_S = 0.02
GIVE_WAY_S = 0.1  # before a worker starts that nobody waits for: the host goes on first
TRIES_A_STEP = 3
TURNS_KEPT_S = 86_400.0
# without a byte; some hosts never close the pipe, and what they had to say has come by then
PATIENCE_S = 5.0
WORD_MAX = 64  # characters
ASK_MAX = 1_000_000  # bytes
REPLY_MAX = 1_000_000  # bytes
IS_WINDOWS = os.name == "nt"
ADVICE = (
    "Keeplore keeps what is said here in its inbox and remembers it once it is set up: run "
    "`keeplore init ~/memory`. Without that command, first `pipx install .` or `uv tool install .` "
    "in a checkout of it."
)
TROUBLE = (
    "Keeplore's worker does not start: what is said here waits in its inbox, and nothing is "
    "recalled. "
    "Run `keeplore doctor`; it says why."
)
# host → the key under which it shows a line to the person, or else gives it to the model
SHOWN = {
    "cursor": "additional_context",
    "copilot": "additionalContext",
    "opencode": "context",
}
ALLOWED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"


def run() -> None:
    try:
        main()
    except BaseException:
        pass
    os._exit(0)


def main() -> None:
    started = time.monotonic()
    if os.environ.get("KEEPLORE_OFF"):
        return
    os.umask(0o077)
    names = [*sys.argv[1:], "", ""]
    host, event = file_name_part(names[0]), file_name_part(names[1])
    payload = read_stdin()
    is_patient = event.lower() in PATIENT or (
        event.lower() in PROMPTS and is_own_command(payload)
    )
    deadline = started + (PATIENT_DEADLINE_S if is_patient else DEADLINE_S)
    state = __import__("state_folder").state_directory()
    is_kept = event.lower() not in UNKEPT and not is_paused(state)
    try:
        if is_kept:
            spool(os.path.join(state, "spool"), host, event, payload)
    except OSError:
        # a full disk is no reason to answer less
        keep_elsewhere(state, host, event, payload)
    reply = answer(state, host, event, payload, deadline, is_patient=is_patient)
    while reply:
        reply = reply[os.write(1, reply) :]


def answer(
    state: str,
    host: str,
    event: str,
    payload: bytes,
    deadline: float,
    *,
    is_patient: bool,
) -> bytes:
    """The worker's reply; where a session begins without one, what there is to say about it."""
    name = event.lower()
    reply = b""
    try:
        if IS_WINDOWS:
            keeplore_python(state)
        elif len(payload) <= ASK_MAX:
            zone = f"zone={time.localtime().tm_gmtoff}"
            header = f"KEEPLORE/1 {CLIENT} answer {host} {event} {zone}\n"
            request = header.encode() + payload
            if name in BRIEFED or (name in TURNS and owes(state)):
                disk = on_disk()
                tell = disk.begin if name in BRIEFED else disk.go_on
                session = disk.SessionPayload(state, host, event, payload)
                call = disk.WorkerCall(ask, request, deadline, is_patient=is_patient)
                reply = tell(session, call)
            else:
                reply = ask(state, request, deadline, is_patient=is_patient) or b""
    except FileNotFoundError:
        reply = daily(state, "advised", host, ADVICE) if name in BEGINNINGS else b""
    except OSError:
        pass  # the time is up, or the worker went away
    if not reply and name in BEGINNINGS and tries_of(state) >= TRIES_A_STEP:
        reply = daily(state, "warned", host, TROUBLE)
    return reply


def is_paused(state: str) -> bool:
    """Whether nothing is to be kept now. Raises OSError or ValueError, and nothing is kept then."""
    try:
        until = first_line(state, "paused")
    except (FileNotFoundError, NotADirectoryError):
        return False
    now = time.strftime("%Y%m%d%H%M%S", time.gmtime())
    return not until.isdigit() or now < until


def owes(state: str) -> bool:
    """Whether some session was given nothing at its start."""
    try:
        return bool(os.listdir(os.path.join(state, "briefs", "owed")))
    except OSError:
        return False


def on_disk() -> "ModuleType":
    """What lies beside this file, and takes longer to import than most events need."""
    module: ModuleType = __import__("brief_on_disk")
    return module


def is_own_command(payload: bytes) -> bool:
    """Does a string in it begin as a command of Keeplore's does? The worker is the one who reads
    it.
    """
    return len(payload) <= OWN_MAX and any(
        command in payload for command in (*OWN, *OWN_TEXTS)
    )


def file_name_part(text: str) -> str:
    if len(text) > WORD_MAX:
        return "unknown"
    return "".join(letter for letter in text if letter in ALLOWED) or "unknown"


def read_stdin() -> bytes:
    chunks: list[bytes] = []
    # Windows cannot wait for a pipe with a limit
    while IS_WINDOWS or select.select([0], [], [], PATIENCE_S)[0]:
        chunk = os.read(0, 1 << 20)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
    if not chunks:
        raise TimeoutError
    return b"".join(chunks)


def spool(directory: str, host: str, event: str, payload: bytes) -> None:
    """Keep an event in a spool: written aside, synced, renamed into place, the directory synced.
    Then it cannot be lost, and never was torn.
    """
    aside, place = os.path.join(directory, "tmp"), os.path.join(directory, "new")
    for box in (aside, place):
        os.makedirs(box, 0o700, exist_ok=True)
    name = entry_name(host, event)
    aside, target = os.path.join(aside, name), os.path.join(place, name)
    handle = os.open(
        aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
    )
    try:
        write_synced(handle, payload)
        move(aside, target)
    except BaseException:
        os.unlink(aside)
        raise
    if not IS_WINDOWS:
        handle = os.open(place, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def keep_elsewhere(state: str, host: str, event: str, payload: bytes) -> None:
    """Spool an event where there is room, for a worker to fetch; where there is none, an empty file
    tells of the loss.
    """
    places = [] if IS_WINDOWS else second_places(state)
    lost = "dropped-" + entry_name(host, event)
    for number, place in enumerate((*places, state, *places)):
        try:
            if number < len(places):
                return spool(os.path.join(place, "spool"), host, event, payload)
            return make(os.path.join(place, lost))
        except OSError:
            continue
    return None


def second_places(state: str) -> "list[str]":
    """Folders on other disks for events, made where needed, whose path nobody else can have
    tampered with.
    """
    name, own = state.replace("/", "%"), f"keeplore-{os.geteuid()}"
    temporary = os.environ.get("TMPDIR", "") or "/tmp"  # noqa: S108 - looked at below
    bases = (os.environ.get("XDG_RUNTIME_DIR", ""), temporary)
    folders = [os.path.join(base, own) for base in bases if base.startswith("/")]
    return [os.path.join(folder, name) for folder in folders if is_private(folder)]


def is_private(folder: str) -> bool:
    """Whether the folder, made where needed, is this user's alone and nobody else can rename it."""
    uid = os.geteuid()
    try:
        if not os.path.lexists(folder):
            os.mkdir(folder, 0o700)
        above, own = os.stat(os.path.dirname(folder)), os.lstat(folder)
    except OSError:
        return False
    # sticky, or not writable by others
    is_kept = bool(above.st_mode & 0o1000) or not above.st_mode & 0o022
    is_folder = own.st_mode & 0o170077 == 0o040000  # no link, and closed to others
    return above.st_uid in (0, uid) and is_kept and own.st_uid == uid and is_folder


def make(path: str) -> None:
    """Make an empty file. Raises OSError."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def entry_name(host: str, event: str) -> str:
    """The name of a new entry: by its time they are in order, and no two are the same."""
    now = time.time_ns()
    stamp = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now // 10**9))}.{now % 10**9:09d}"
    unique = f"{os.getpid()}-{os.urandom(4).hex()}{since_boot()}"
    return f"{stamp}.{unique}.0.{host}.{event}"


def since_boot() -> str:
    """The boot and the hundredths of a second since: an order that survives another clock."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb", 0) as file:
            boot = file.read(8).decode()
        with open("/proc/uptime", "rb", 0) as file:
            since = file.read(20).split()[0].replace(b".", b"").decode()
        return f"-{boot}-{since}"
    except (OSError, ValueError, IndexError):
        return ""


def write_synced(handle: int, payload: bytes) -> None:
    """Write all of the payload to the disk; the file is closed in any case."""
    try:
        rest = memoryview(payload)
        while rest:
            rest = rest[os.write(handle, rest) :]
        os.fsync(handle)
    finally:
        os.close(handle)


def move(aside: str, target: str) -> None:
    # A virus scanner or an indexer on Windows may hold a new file for a moment.
    for _ in range(50 if IS_WINDOWS else 0):
        try:
            return os.rename(aside, target)
        except PermissionError:
            time.sleep(0.05)
    return os.rename(aside, target)


def ask(
    state: str,
    request: bytes,
    deadline: float,
    *,
    is_patient: bool,
    is_hurried: bool = False,
) -> "bytes | None":
    """The worker's reply, b"" where it has nothing to say, None where it did not come."""
    connection = connect(state, deadline, is_patient=is_patient, is_hurried=is_hurried)
    if connection is None:
        return None
    connection.sendall(request)
    connection.shutdown(_socket.SHUT_WR)
    reply = b""
    while len(reply) <= REPLY_MAX:
        connection.settimeout(remaining(deadline))
        chunk = connection.recv(1 << 16)
        if not chunk:
            break
        reply += chunk
    return object_in(reply)


def object_in(reply: bytes) -> "bytes | None":
    """The JSON object of a reply, b"" where it is none, None for one that did not come as a
    whole.
    """
    length, _, body = reply.partition(b"\n")
    if not (length.isdigit() and int(length) == len(body)):
        return None
    return body if body.startswith(b"{") and body.endswith(b"}") else b""


def connect(
    state: str, deadline: float, *, is_patient: bool, is_hurried: bool = False
) -> "_socket.socket | None":
    """A connection to the worker; where none runs one is started, and who started it or is patient
    waits for it, if it is in no hurry.
    """
    has_started = is_started = False
    while True:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            address = address_of(state)
            connection.settimeout(remaining(deadline))
            connection.connect(address)
            return connection
        except BlockingIOError:  # it runs, and too many wait for it already
            connection.close()
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            if not has_started:
                is_started = start_worker(state, GIVE_WAY_S if is_hurried else 0.0)
                has_started = True
            # several died before this one: nobody is to wait for another
            if tries_of(state) > TRIES_A_STEP:
                return None
        if is_hurried or not (is_patient or is_started):
            return None
        # not before: also where the time is up, what was spooled needs a worker
        time.sleep(min(RETRY_S, remaining(deadline)))


def address_of(state: str) -> bytes:
    """The address at which the worker listens. Raises FileNotFoundError where none ever did."""
    with open(os.path.join(state, "worker.addr"), "rb") as file:
        return file.read(200).strip()


def remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def start_worker(state: str, after_s: float = 0.0) -> bool:
    """Start a worker that outlives this process, if it is time for one. Raises OSError where it is
    not known how.
    """
    python = keeplore_python(state)
    tries = tries_of(state)
    if not is_first(os.path.join(state, start_turn(tries))):
        return False
    with open(os.path.join(state, "worker.tries"), "w", encoding="ascii") as file:
        file.write(f"{tries + 1}\n")
    # not the latest: a client that is late must find its turn taken
    oldest = time.time() - TURNS_KEPT_S
    for name in os.listdir(state):
        place = os.path.join(state, name)
        if name.startswith("worker.start-") and os.stat(place).st_mtime < oldest:
            os.unlink(place)
    if os.fork() == 0:
        become_worker(python, state, after_s)
    return True


def start_turn(tries: int) -> str:
    """The file that only one start of a worker makes in ten seconds, whoever asks: two hundred
    events at once must not start two hundred interpreters. One that dies again and again gets a
    minute, ten minutes, an hour; a worker that lives removes the count.
    """
    characters = 14 - min(tries // TRIES_A_STEP, 3)  # of 20260209T140312
    return "worker.start-" + time.strftime("%Y%m%dT%H%M%S", time.gmtime())[:characters]


def is_first(path: str) -> bool:
    """Whether this process is the one that made the file."""
    try:
        make(path)
    except FileExistsError:
        return False
    return True


def tries_of(state: str) -> int:
    """How often a worker was started in vain."""
    try:
        tries = first_line(state, "worker.tries")
    except (OSError, ValueError):
        return 0
    return int(tries) if tries.isdigit() and len(tries) < 7 else 0


def keeplore_python(state: str) -> str:
    """The interpreter in whose environment Keeplore is. Raises FileNotFoundError where there is
    none.
    """
    python = first_line(state, "python")
    if not (os.path.isabs(python) and os.access(python, os.X_OK)):
        raise FileNotFoundError(python)
    return python


def first_line(state: str, name: str) -> str:
    """The first line of a file in the state directory. Raises OSError or ValueError."""
    with open(os.path.join(state, name), encoding="utf-8") as file:
        return file.readline(4096).strip()


def daily(state: str, kind: str, host: str, text: str) -> bytes:
    """A line for the person, in the form of the host, once a day: a run without a terminal shows
    it to nobody. b"" where a file of this kind says that it was told.
    """
    name = time.strftime(f"{kind}-%Y%m%d", time.gmtime())
    if not is_first(os.path.join(state, name)):
        return b""
    for old in os.listdir(state):
        if old.startswith(f"{kind}-") and old != name:
            os.unlink(os.path.join(state, old))
    return f'{{"{SHOWN.get(host, "systemMessage")}": "{text}"}}'.encode()


def become_worker(python: str, state: str, after_s: float) -> None:
    try:
        os.setsid()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
            os.set_inheritable(stream, True)  # noqa: FBT003 - its only signature
        # a pipe of the host's that is still open keeps the host waiting
        os.closerange(3, 256)
        time.sleep(after_s)
        os.execve(
            python,
            [python, "-m", "keeplore.worker"],
            {**os.environ, "KEEPLORE_STATE_DIR": state},
        )
    finally:
        os._exit(127)
