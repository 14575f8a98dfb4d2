"""What is forked is a process of its own: with its input, output, environment and exit code, and dead when it is killed."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from tests import forks


def echo(name: str) -> None:
    print(f"{name} in {os.environ['WHERE']}", flush=True)
    os.write(2, b"begun\n")
    print(
        sys.stdin.read() == "",
        "litellm" in sys.modules,
        "streamlit" in sys.modules,
        "courtroom.__main__" in sys.modules,
    )
    sys.exit(3)


def test_a_fork_is_warm_and_has_its_own_input_output_environment_and_exit_code() -> None:
    with forks.Fork(echo, "Ada", environment={"WHERE": "the court"}) as process:
        assert process.line() == "Ada in the court\n"
        assert process.told() == b"begun\n"
        assert process.returncode is None
        done = process.finish()
    assert (done.returncode, done.stdout) == (3, "True True True True\n")
    assert "WHERE" not in os.environ


def test_a_killed_fork_is_dead_at_once() -> None:
    with forks.Fork(echo, "Ada", environment={"WHERE": "the court"}) as process:
        process.line()
        process.kill()
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
    assert process.returncode == -signal.SIGKILL


def test_a_fork_that_hangs_is_left_with_the_test() -> None:
    with forks.Fork(echo, "Ada", environment={"WHERE": "the court"}) as process:
        pass
    assert process.returncode == -signal.SIGKILL


def test_the_shell_told_in_a_fork_is_the_shell() -> None:
    done = forks.run("cases", "check", "nowhere.json")
    assert (done.returncode, done.stdout.split("\t")[:2]) == (1, ["nowhere.json", "error"])
