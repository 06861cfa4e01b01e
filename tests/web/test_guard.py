"""Whoever has not the session gets nothing, and another page in the same browser does nothing."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from open_window import Window, opened

PAGES = ("/", "/timeline", "/m/0000", "/static/app.js", "/events", "/act/pin")


def test_nothing_is_answered_without_a_session(window: Window) -> None:
    answers = [window.ask(path) for path in PAGES]
    assert [status for status, _, _ in answers] == [403] * len(PAGES)
    told = "This address opens nothing any more"
    assert all(text.startswith(told) for _, _, text in answers)


def test_the_address_opens_one_session_and_no_second(window: Window) -> None:
    path = window.server.address.partition(window.host)[2]
    window.enter()
    name, _, value = window.cookie.partition("=")
    assert name == f"keeplore-{window.host.partition(':')[2]}" and len(value) >= 40
    assert window.ask("/")[0] == 200
    assert window.ask(path, Cookie="")[0] == 403
    # the person opens it again in the same browser
    assert window.ask(path)[0] == 303


def test_the_cookie_is_kept_from_scripts_and_other_sites(window: Window) -> None:
    _, headers, _ = window.ask(window.server.address.partition(window.host)[2])
    attributes = headers["set-cookie"].split("; ")[1:]
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=strict"]


def test_a_wrong_ticket_opens_nothing(window: Window) -> None:
    assert window.ask("/enter?ticket=guess")[0] == 403
    assert window.ask("/enter?ticket=")[0] == 403
    window.enter()  # and the right one still does


def test_a_name_that_was_bent_to_this_machine_is_not_answered(window: Window) -> None:
    hosts = ("evil.invalid", "evil.invalid:80", "127.0.0.1", "0.0.0.0:1", "")
    entry = window.server.address.partition(window.host)[2]
    before = {host: window.ask(entry, Host=host)[0] for host in hosts}
    window.enter()
    after = {host: window.ask("/", Host=host)[0] for host in hosts}
    assert before == after == dict.fromkeys(hosts, 421)


def test_another_site_may_not_even_look(window: Window) -> None:
    window.enter()
    assert window.ask("/", Sec_Fetch_Site="cross-site")[0] == 403
    assert window.ask("/", Sec_Fetch_Site="same-site")[0] == 403
    assert window.ask("/", Sec_Fetch_Site="same-origin")[0] == 200


def test_a_form_needs_origin_and_token(window: Window) -> None:
    window.enter()
    token, here = window.csrf(), f"http://{window.host}"
    fields = {"id": window.id_of("Ledger"), "permanent": "no"}
    body, signed = urlencode(fields), urlencode({**fields, "csrf": token})
    before = window.workspace.store.head()
    refused = [
        window.ask("/act/pin", "POST", signed)[0],
        window.ask("/act/pin", "POST", signed, Origin="http://evil.invalid")[0],
        window.ask("/act/pin", "POST", signed, Origin="http://127.0.0.1:1")[0],
        window.ask("/act/pin", "POST", signed, Origin="null")[0],
        window.ask("/act/pin", "POST", body, Origin=here)[0],
        window.ask("/act/pin", "POST", f"{body}&csrf=guess", Origin=here)[0],
        window.ask("/act/pin", "POST", f"{body}&csrf=", Origin=here)[0],
    ]
    assert refused == [403] * 7 and window.workspace.store.head() == before
    assert window.ask("/act/pin", "POST", signed, Origin=here)[0] == 303
    assert window.workspace.store.head() != before


def test_nothing_but_reading_and_forms(window: Window) -> None:
    window.enter()
    methods = ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE")
    assert [window.ask("/", method)[0] for method in methods] == [405] * 5
    assert window.ask("/act/pin")[0] == 405


def test_a_form_that_is_too_large_is_not_taken(window: Window) -> None:
    window.enter()
    body = "csrf=x&text=" + "a" * (5 * 1024 * 1024)
    try:
        status = window.ask("/act/pin", "POST", body, Origin=f"http://{window.host}")[0]
    except (BrokenPipeError, ConnectionResetError):  # it was refused before it was sent
        status = 413
    assert status == 413


def test_every_answer_says_what_a_browser_may_do_with_it(window: Window) -> None:
    window.enter()
    _, headers, _ = window.ask("/")
    policy = dict(
        rule.strip().partition(" ")[::2]
        for rule in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert "unsafe" not in headers["content-security-policy"]
    kept = {
        name: headers[name]
        for name in (
            "x-frame-options",
            "x-content-type-options",
            "referrer-policy",
            "cache-control",
        )
    }
    assert kept == {
        "x-frame-options": "SAMEORIGIN",
        "x-content-type-options": "nosniff",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
    }


def test_no_other_file_is_given(window: Window) -> None:
    window.enter()
    names = ("../guard.py", "..%2fguard.py", "%2e%2e/guard.py", "guard.py", "%00")
    given = {name: window.ask(f"/static/{name}")[0] for name in names}
    assert given == dict.fromkeys(names, 404)


def test_read_only_changes_nothing_and_offers_nothing(sample: Path) -> None:
    with opened(sample, is_read_only=True) as window:
        window.enter()
        page = window.ask(f"/m/{window.id_of('Ledger')}")[2]
        assert 'method="post"' not in page and "read only" in page
        status, _, text = window.ask(
            "/act/pin", "POST", "id=x", Origin=f"http://{window.host}"
        )
        assert (status, text) == (
            403,
            "Nothing can be changed: `keeplore open --read-only`.\n",
        )
