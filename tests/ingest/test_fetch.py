"""Pages come from a real server on this machine, which the product itself never asks: the tests say
what is allowed.
"""

from __future__ import annotations

import gzip
import http.server
import itertools
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from refusals import refused

from keeplore.errors import SourceRefused, SourceUnavailable
from keeplore.ingest.fetch import MAX_REDIRECTS, Limits, Page, fetch
from keeplore.ingest.public_addresses import is_public
from keeplore.ingest.source_address import web_address

MB = 1_000_000
INSIDE = """0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 168.63.129.16 169.254.169.254 172.16.0.1 192.0.0.192
    192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 ::ffff:10.0.0.1
    ::ffff:169.254.169.254 ::127.0.0.1 64:ff9b::a00:1 64:ff9b:1::1 2002:a00:1:: 2001:0:a00:1:: 2001:db8::1 3fff::1
    fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 fec0::1 ff02::1 100::1 nonsense 1.2.3"""
OUTSIDE = "1.1.1.1 93.184.215.14 2606:4700::1111 2a00:1450:4001::1 ::ffff:1.1.1.1 64:ff9b::101:101"
BY_HAND = "Open it in a browser, save it, and give the file"
LATER = (
    "Try again later; where the network wants a proxy, save the page and give the file"
)
SAVE = "Pages of this machine or its network are not fetched; save the page and give the file"
TOO_LARGE = "it is larger than 1 MB. Give a part of it, or set documents.megabytes"
BOMB = gzip.compress(bytes(20 * MB))


class Site(http.server.BaseHTTPRequestHandler):
    """A page for each path; ``seen`` has the requests."""

    seen: list[tuple[str, dict[str, str]]]

    def do_GET(self) -> None:
        self.seen.append(
            (self.path, {name.lower(): value for name, value in self.headers.items()})
        )
        name = self.path.partition("?")[0].strip("/").replace("-", "_") or "page"
        getattr(self, name, self.missing)()

    def page(self) -> None:
        self.reply(200, b"<p>hello</p>", {"Content-Type": "text/html; charset=utf-8"})

    def packed(self) -> None:
        self.reply(200, gzip.compress(b"packed text"), {"Content-Encoding": "gzip"})

    def bomb(self) -> None:
        self.reply(200, BOMB, {"Content-Encoding": "gzip"})

    def cut_off(self) -> None:
        self.reply(
            200, gzip.compress(b"packed text" * 99)[:-20], {"Content-Encoding": "gzip"}
        )

    def brotli(self) -> None:
        self.reply(200, b"\x8b", {"Content-Encoding": "br"})

    def large(self) -> None:
        self.reply(200, b"x" * (2 * MB), {})

    def endless(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.drip(b"x" * 65_536)

    def slow(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self.drip(b"X-More: 1\r\n", pause_s=0.05)

    def slow_body(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.drip(b"<p>word</p>", pause_s=0.05)

    def missing(self) -> None:
        status = self.path.strip("/")
        self.reply(int(status) if status.isdigit() else 404, b"", {})

    def garbled(self) -> None:
        self.reply(200, b"no gzip", {"Content-Encoding": "gzip"})

    def broken(self) -> None:
        self.reply(503, b"", {})

    def circle(self) -> None:
        self.reply(302, b"", {"Location": f"/circle?{len(self.seen)}"})

    def inside(self) -> None:
        self.reply(302, b"", {"Location": "http://inner.test/"})

    def file(self) -> None:
        self.reply(302, b"", {"Location": "file:///etc/passwd"})

    def login(self) -> None:
        self.reply(302, b"", {"Location": "http://user:word@outer.test/"})

    def moved(self) -> None:
        self.reply(308, b"", {"Location": "../page#part"})

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drip(self, piece: bytes, pause_s: float = 0.0) -> None:
        """Until the other side has enough."""
        try:
            while True:
                self.wfile.write(piece)
                self.wfile.flush()
                threading.Event().wait(pause_s)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site() -> Iterator[tuple[str, list[tuple[str, dict[str, str]]]]]:
    seen: list[tuple[str, dict[str, str]]] = []
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Here", (Site,), {"seen": seen})
    )
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://outer.test:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


def names(host: str, _port: int) -> list[str]:
    return {
        "outer.test": ["127.0.0.1"],
        "inner.test": ["127.0.0.2"],
        "both.test": ["127.0.0.1", "10.0.0.1"],
    }[host]


def limits(
    seconds: float = 20.0,
    allowed: Callable[[str], bool] = "127.0.0.1".__eq__,
    resolve: Callable[[str, int], list[str]] = names,
) -> Limits:
    return Limits(MB, seconds, allowed, resolve)


def test_a_page_comes_with_its_type_and_nothing_of_the_environment_goes_along(
    site, monkeypatch, home
) -> None:
    url, seen = site
    (home / ".netrc").write_text("machine outer.test login ann password word\n")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy")
    assert fetch(f"{url}/page", limits()) == Page(
        b"<p>hello</p>", "text/html; charset=utf-8"
    )
    assert fetch(f"{url}/moved", limits()).data == b"<p>hello</p>"
    assert fetch(f"{url}/packed", limits()).data == b"packed text"
    assert all(
        not {"cookie", "authorization", "proxy-authorization"} & headers.keys()
        for _, headers in seen
    )
    assert {path: headers.pop("host") for path, headers in seen}["/page"] == (
        url.removeprefix("http://")
    )
    assert seen[0] == (
        "/page",
        {
            "user-agent": "keeplore (a page that a person asked to keep)",
            "accept": "text/html, text/markdown, text/plain, application/pdf, "
            "application/json, application/xml, */*;q=0.5",
            "accept-encoding": "gzip",
            "connection": "close",
        },
    )


@pytest.mark.parametrize(
    ("path", "error", "said"),
    [
        ("bomb", SourceRefused, TOO_LARGE),
        ("large", SourceRefused, TOO_LARGE),
        ("endless", SourceRefused, TOO_LARGE),
        (
            "cut-off",
            SourceUnavailable,
            f"{{url}} cannot be fetched: the page ends in the middle. {LATER}",
        ),
        (
            "garbled",
            SourceRefused,
            (
                "the page is packed wrongly: Error -3 while decompressing data: incorrect header "
                f"check. {BY_HAND}"
            ),
        ),
        (
            "brotli",
            SourceRefused,
            f"the server sends the page packed as 'br', which nobody asked for. {BY_HAND}",
        ),
        (
            "missing",
            SourceRefused,
            f"{{url}}: the server has no such page (404). {BY_HAND}",
        ),
        ("401", SourceRefused, f"{{url}}: the server wants a login (401). {BY_HAND}"),
        (
            "403",
            SourceRefused,
            f"{{url}}: the server does not give it away (403). {BY_HAND}",
        ),
        ("410", SourceRefused, f"{{url}}: the server has it no more (410). {BY_HAND}"),
        ("418", SourceRefused, f"{{url}}: the server gives no page (418). {BY_HAND}"),
        ("408", SourceUnavailable, "{url} answers with 408. Try again later"),
        ("425", SourceUnavailable, "{url} answers with 425. Try again later"),
        ("429", SourceUnavailable, "{url} answers with 429. Try again later"),
        ("500", SourceUnavailable, "{url} answers with 500. Try again later"),
        ("broken", SourceUnavailable, "{url} answers with 503. Try again later"),
        (
            "circle",
            SourceRefused,
            f"{{url}}?6 is reached after more than {MAX_REDIRECTS} redirects. {BY_HAND}",
        ),
        (
            "inside",
            SourceRefused,
            f"inner.test is at 127.0.0.2, which is not on the public internet. {SAVE}",
        ),
        (
            "file",
            SourceRefused,
            (
                "file: is no address of the web. "
                "Give the address of a page as `https://host/path`, or the path of a file"
            ),
        ),
        (
            "login",
            SourceRefused,
            (
                "the address holds a user or a password. "
                "Leave out what stands before the @"
            ),
        ),
    ],
)
def test_a_page_that_is_too_much_or_leads_elsewhere_is_refused(
    site, path: str, error: type, said: str
) -> None:
    url = f"{site[0]}/{path}"
    with refused(error, said.format(url=url)):
        fetch(url, limits())


def test_no_server_holds_us_longer_than_the_time_that_there_is(site) -> None:
    late = f"{{}} cannot be fetched: it takes too long. {LATER}"
    for path in ("slow", "slow-body"):
        with refused(SourceUnavailable, late.format(f"{site[0]}/{path}")):
            fetch(f"{site[0]}/{path}", limits(0.3))
    # accepts, and never shakes hands
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://outer.test:{silent.getsockname()[1]}/"
        with refused(SourceUnavailable, late.format(url)):
            fetch(url, limits(0.3))
    never = threading.Event()
    asking: list[threading.Thread] = []

    def resolve(_host: str, _port: int) -> list[str]:
        asking.append(threading.current_thread())
        return [str(never.wait(20))]

    with refused(SourceUnavailable, late.format("http://outer.test/")):
        fetch("http://outer.test/", limits(0.1, resolve=resolve))
    never.set()
    # nor does a look-up hold the end of the process
    assert [thread.daemon for thread in asking] == [True]


def test_an_error_without_words_is_told_by_its_name() -> None:
    def resolve(host: str, _port: int) -> list[str]:
        raise BrokenPipeError

    said = f"http://outer.test/page cannot be fetched: outer.test: BrokenPipeError. {LATER}"
    with refused(SourceUnavailable, said):
        fetch("http://outer.test/page", limits(resolve=resolve))


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(site) -> None:
    answers = itertools.cycle(
        [["127.0.0.1"], ["127.0.0.2"]]
    )  # a name that leads inside the second time it is asked
    asked: list[str] = []

    def resolve(host: str, _port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    assert fetch(f"{site[0]}/page", limits(resolve=resolve)).data == b"<p>hello</p>"
    assert asked == ["outer.test"]
    inside = f"{{}}, which is not on the public internet. {SAVE}"
    with refused(SourceRefused, inside.format("outer.test is at 127.0.0.2")):
        fetch(f"{site[0]}/page", limits(resolve=resolve))
    # one address inside is enough
    with refused(SourceRefused, inside.format("both.test is at 10.0.0.1")):
        fetch(f"{site[0].replace('outer', 'both')}/page", limits())


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::]",
        "0",
    ],
)
def test_this_machine_is_refused_however_it_is_written(host: str) -> None:
    with pytest.raises(SourceRefused, match="not on the public internet"):
        fetch(web_address(f"http://{host}/"), Limits(MB, 20.0))


def test_only_addresses_of_the_public_internet_are_public() -> None:
    assert [address for address in INSIDE.split() if is_public(address)] == []
    assert [address for address in OUTSIDE.split() if not is_public(address)] == []


def test_an_address_has_one_spelling() -> None:
    same = [
        "https://Example.com",
        "https://example.com:443/",
        "https://example.com/#part",
        "https://example.com?",
    ]
    assert {web_address(url) for url in same} == {"https://example.com/"}
    assert (
        web_address("http://bücher.example/ü?q=ä b".replace(" ", "+"))
        == "http://xn--bcher-kva.example/%C3%BC?q=%C3%A4+b"
    )
    for wrong in (
        "ftp://a/",
        "file:///a",
        "http://",
        "http://a b/",
        "http://a\\b/",
        "http://u@a/",
        "http://a:x/",
        "//a/",
    ):
        with pytest.raises(SourceRefused):
            web_address(wrong)
