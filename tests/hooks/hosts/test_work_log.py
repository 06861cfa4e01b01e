"""What is kept of an agent's work in one turn, and no more than that."""

from __future__ import annotations

from keeplore_hooks.events import Work
from keeplore_hooks.hosts.work_log import WorkLog

PULL = "https://git.example/shop/pull/"


def test_of_a_busy_turn_so_many_references_of_each_kind_are_kept() -> None:
    log = WorkLog()
    for n in range(101):
        log.add_file(f"file {n}", f"src/part{n}.py")
        log.add_command(f"command {n}", f"make part{n}")
        log.add_subagent_task(f"agent {n}", "explore", f"part {n}")
    for n in range(21):
        log.add_output("git commit", f"[main {n:07x}] Part {n}")
    are_new = [log.add_link(f"{PULL}{n}") for n in range(11)]
    assert log.work() == Work(
        files=tuple(f"src/part{n}.py" for n in range(100)),
        commands=tuple(f"make part{n}" for n in range(50)),
        commits=tuple(f"{n:07x} Part {n}" for n in range(20)),
        links=tuple(f"{PULL}{n}" for n in range(10)),
        agents=tuple(f"explore: part {n}" for n in range(20)),
    )
    assert are_new == [True] * 10 + [False]


def test_what_came_to_nothing_is_taken_back_and_makes_room() -> None:
    log = WorkLog()
    for n in range(100):
        log.add_file(f"{n}", f"part{n}.py")
    log.add_command("0", "make part0")
    log.add_subagent_task("0", "", "look")
    log.drop_file("1")
    log.drop_call("0")
    log.add_file("100", "part100.py")
    assert log.work() == Work(files=tuple(f"part{n}.py" for n in range(2, 101)))


def test_a_task_and_an_id_are_cut_and_a_command_too() -> None:
    log = WorkLog()
    log.add_subagent_task("1", "", "t" * 151, "a" * 61)
    log.add_subagent_task("2", "review", "look\nat it")
    log.add_subagent_id("2", "b" * 61)
    log.add_command("3", "c" * 201)
    assert log.work() == Work(
        commands=("c" * 200,),
        agents=(f"{'t' * 150} ({'a' * 60})", f"review: look ({'b' * 60})"),
    )


def test_the_same_link_is_new_once() -> None:
    log = WorkLog()
    assert [log.add_link(url) for url in (f"{PULL}1", f"{PULL}1", "")] == [
        True,
        False,
        False,
    ]
