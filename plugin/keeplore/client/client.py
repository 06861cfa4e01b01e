"""``python3 -I -S client.py HOST EVENT < payload``: spool one host event, then ask the worker what
to tell the host.

Prints nothing or the worker's reply, one JSON object, and exits 0 whatever happens: a host must
never suffer from its memory. It parses nothing, and it imports only what costs next to nothing: a
person waits for every millisecond here. ``_socket`` is what ``socket`` wraps, without the
milliseconds that the wrapper's own imports take. Any Python from 3.8 will do. On Windows it spools
and asks nothing. Where Keeplore itself is not installed, it says so once at a session's start. The
formats: docs/spool.md.
"""
# pathlib, contextlib and subprocess take longer to import than all of this takes to run:
# ruff: noqa: PTH100, PTH103, PTH104, PTH108, PTH111, PTH112, PTH117, PTH118, PTH120, PTH123
# ruff: noqa: PTH208, S606, SIM105

import _socket
import os
import select
import sys
import time

CLIENT = "0.1.0"
DEADLINE_S = 0.3  # wall time in all; then the host goes on without us
BEGINNINGS = ("sessionstart", "sessioncreated")  # nobody has typed yet
# or somebody typed a command of Keeplore's
PATIENT = (*BEGINNINGS, "userpromptexpansion", "commandexecutebefore")
# may be such a command
PROMPTS = (
    "userpromptsubmit",
    "userpromptsubmitted",
    "beforeagent",
    "beforesubmitprompt",
)
# how a JSON string begins that is one, typed as hosts without an event of their own for it take it
OWN = tuple(
    f'"{mark}{name}'.encode()
    for mark in (
        "/keeplore:",
        "/keeplore-",
        "/keeplore/",
        "$keeplore:",
        "$keeplore-",
        "[$keeplore:",
        "[$",
        "$",
    )
    for name in ("remember", "recall", "forget", "memory")
)
OWN_MAX = 100_000  # bytes; nobody types so much behind a command
PATIENT_DEADLINE_S = 1.5  # the worker may have to be started
# asked before an edit: it has not happened yet, and the payload holds a whole file
UNKEPT = "pretooluse"
RETRY_S = 0.02
TRIES_A_STEP = 3
# without a byte; some hosts never close the pipe, and what they had to say has come by then
PATIENCE_S = 5.0
WORD_MAX = 64  # characters
ASK_MAX = 1_000_000  # bytes
REPLY_MAX = 1_000_000  # bytes
IS_WINDOWS = os.name == "nt"
ADVICE = (
    "Keeplore keeps what is said here in its inbox and remembers it once it is installed: "
    "run `pipx install keeplore` or `uv tool install keeplore`, then `keeplore init`."
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


def main() -> None:
    started = time.monotonic()
    if os.environ.get("KEEPLORE_OFF"):
        return
    os.umask(0o077)
    host, event = (word(argument) for argument in [*sys.argv[1:3], "", ""][:2])
    payload = receive()
    is_patient = event.lower() in PATIENT or (
        event.lower() in PROMPTS and is_own_command(payload)
    )
    deadline = started + (PATIENT_DEADLINE_S if is_patient else DEADLINE_S)
    state = state_directory()
    try:
        if event.lower() != UNKEPT:
            spool(os.path.join(state, "spool"), host, event, payload)
    except OSError:
        pass  # a full disk is no reason to answer less
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
    is_beginning = event.lower() in BEGINNINGS
    reply = b""
    try:
        if IS_WINDOWS:
            keeplore_python(state)
        elif len(payload) <= ASK_MAX:
            header = f"KEEPLORE/1 {CLIENT} answer {host} {event}\n".encode()
            reply = ask(state, header + payload, deadline, is_patient=is_patient)
    except FileNotFoundError:
        reply = once(state, "advised", host, ADVICE) if is_beginning else b""
    except OSError:
        pass  # the time is up, or the worker went away
    if not reply and is_beginning and tries_of(state) >= TRIES_A_STEP:
        today = time.strftime("warned-%Y%m%d", time.gmtime())
        reply = once(state, today, host, TROUBLE)
    return reply


def is_own_command(payload: bytes) -> bool:
    """Does a string in it begin as a command of Keeplore's does? The worker is the one who reads
    it.
    """
    return len(payload) <= OWN_MAX and any(command in payload for command in OWN)


def word(text: str) -> str:
    if len(text) > WORD_MAX:
        return "unknown"
    return "".join(letter for letter in text if letter in ALLOWED) or "unknown"


def state_directory() -> str:
    """The one that this file is kept in, else as platformdirs finds it."""
    state = os.environ.get("KEEPLORE_STATE_DIR")
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not state and os.path.isdir(os.path.join(own, "spool")):
        # a host that a desktop started may not have the environment that a shell would give it
        return own
    return os.path.abspath(state or os.path.join(usual_base(), "keeplore"))


def usual_base() -> str:
    """The folder in which programs keep their state."""
    if IS_WINDOWS:
        return os.environ["LOCALAPPDATA"]
    if os.environ.get("XDG_STATE_HOME", "").startswith("/"):
        return os.environ["XDG_STATE_HOME"]
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support")
    return os.path.expanduser("~/.local/state")


def receive() -> bytes:
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
    """Written aside, synced, renamed into place, the directory synced: then it cannot be lost, and
    never was torn.
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


def entry_name(host: str, event: str) -> str:
    """The name of a new entry: by its time they are in order, and no two are the same."""
    now = time.time_ns()
    stamp = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime(now // 10**9))}.{now % 10**9:09d}"
    return f"{stamp}.{os.getpid()}-{os.urandom(4).hex()}.0.{host}.{event}"


def write_synced(handle: int, payload: bytes) -> None:
    """All of it to the disk; the file is closed in any case."""
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


def ask(state: str, request: bytes, deadline: float, *, is_patient: bool) -> bytes:
    """The worker's reply, b"" where it has none."""
    connection = connect(state, deadline, is_patient=is_patient)
    if connection is None:
        return b""
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


def object_in(reply: bytes) -> bytes:
    """The JSON object of a reply that came as a whole, b"" for any other."""
    length, _, body = reply.partition(b"\n")
    is_whole = length.isdigit() and int(length) == len(body)
    return body if is_whole and body.startswith(b"{") and body.endswith(b"}") else b""


def connect(
    state: str, deadline: float, *, is_patient: bool
) -> "_socket.socket | None":
    """A connection to the worker; where none runs one is started, and who started it or is patient
    waits for it.
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
                is_started = start_worker(state)
                has_started = True
            # several died before this one: nobody is to wait for another
            if tries_of(state) > TRIES_A_STEP:
                return None
        if not (is_patient or is_started):
            return None
        # not before: also where the time is up, what was spooled needs a worker
        time.sleep(min(RETRY_S, remaining(deadline)))


def address_of(state: str) -> bytes:
    """Where the worker listens. Raises FileNotFoundError where none did."""
    with open(os.path.join(state, "worker.addr"), "rb") as file:
        return file.read(200).strip()


def remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def start_worker(state: str) -> bool:
    """Start a worker that outlives this process, if it is time for one. Raises OSError where it is
    not known how.
    """
    python = keeplore_python(state)
    tries = tries_of(state)
    # One start in ten seconds, whoever asks: two hundred events at once must not start two hundred
    # interpreters. One that dies again and again gets a minute, ten minutes, an hour; a worker that
    # lives removes the count.
    spared = 2 + min(tries // TRIES_A_STEP, 3)  # characters of the time
    turn = time.strftime("worker.start-%Y%m%dT%H%M%SZ", time.gmtime())[:-spared]
    if not is_first(os.path.join(state, turn)):
        return False
    with open(os.path.join(state, "worker.tries"), "w", encoding="ascii") as file:
        file.write(f"{tries + 1}\n")
    for name in os.listdir(state):
        if name.startswith("worker.start-") and name != turn:
            os.unlink(os.path.join(state, name))
    if os.fork() == 0:
        become_worker(python, state)
    return True


def is_first(path: str) -> bool:
    """Whether this process is the one that made the file."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    return True


def tries_of(state: str) -> int:
    """How often a worker was started in vain."""
    try:
        with open(os.path.join(state, "worker.tries"), encoding="ascii") as file:
            tries = file.read(7).strip()
    except (OSError, ValueError):
        return 0
    return int(tries) if tries.isdigit() and len(tries) < 7 else 0


def keeplore_python(state: str) -> str:
    """The interpreter in whose environment Keeplore is. Raises FileNotFoundError where there is
    none.
    """
    with open(os.path.join(state, "python"), encoding="utf-8") as file:
        python = file.readline().strip()
    if not (os.path.isabs(python) and os.access(python, os.X_OK)):
        raise FileNotFoundError(python)
    return python


def once(state: str, name: str, host: str, text: str) -> bytes:
    """A line for the person, in the form of the host; b"" where the file ``name`` says that it was
    told.
    """
    try:
        os.close(
            os.open(
                os.path.join(state, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
            )
        )
    except FileExistsError:
        return b""
    kind = name.split("-")[0] + "-"
    for old in os.listdir(state):
        if old.startswith(kind) and old != name:
            os.unlink(os.path.join(state, old))
    return f'{{"{SHOWN.get(host, "systemMessage")}": "{text}"}}'.encode()


def become_worker(python: str, state: str) -> None:
    try:
        os.setsid()
        os.chdir("/")
        null = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(null, stream)
            os.set_inheritable(stream, True)  # noqa: FBT003 - its only signature
        # a pipe of the host's that is still open keeps the host waiting
        os.closerange(3, 256)
        os.execve(
            python,
            [python, "-m", "keeplore.worker"],
            {**os.environ, "KEEPLORE_STATE_DIR": state},
        )
    finally:
        os._exit(127)


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        pass
    os._exit(0)
