"""What holds for every test: it stays on this machine, and with several workers a file stays with one of them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LeftThisMachine

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("host", ["192.0.2.1", "api.openai.com", "localhost.example"])
def test_no_socket_reaches_another_machine(host: str, nothing_leaves_this_machine: list[str]) -> None:
    with pytest.raises(LeftThisMachine):
        socket.create_connection((host, 80))
    assert nothing_leaves_this_machine == [host]
    nothing_leaves_this_machine.clear()


def test_a_worker_takes_whole_files(tmp_path: Path) -> None:
    """Both workers have work from the beginning; without groups, the tests of each file would alternate between them."""
    test = "import pytest\n@pytest.mark.parametrize('n', range(4))\ndef test(n, worker_id):\n    print(__file__, worker_id)\n"
    for name in ("test_one.py", "test_two.py"):
        (tmp_path / name).write_text(test)
    ran = run_by_workers(tmp_path, 2)
    took = [line.split() for line in ran.stdout.splitlines() if line.startswith(str(tmp_path))]
    assert ran.returncode == 0
    assert len(took) == 8
    assert len({tuple(words) for words in took}) == 2, took


def test_a_process_that_dies_fails_one_test_and_takes_along_what_was_left(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import os\n"
        "def test_one():\n    os.environ['LEFT'] = '1'\n"
        "def test_two():\n    os._exit(3)\n"
        "def test_three():\n    assert 'LEFT' not in os.environ\n"
    )
    ran = run_by_workers(tmp_path, 1)
    assert ran.returncode == 1
    assert "1 failed, 2 passed" in ran.stdout
    assert "the process that ran it is gone: exit code 3" in ran.stdout


def test_a_test_that_is_stuck_fails_and_says_where(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import threading\n"
        "def test_one():\n    never = threading.Event()\n    never.wait()\n"
        "def test_two():\n    pass\n"
    )
    ran = run_by_workers(tmp_path, 1, "-o", "stuck_s=2")
    assert "1 failed, 1 passed" in ran.stdout
    assert 'test_one.py", line 4 in test_one' in ran.stdout


def run_by_workers(folder: Path, workers: int, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder by workers that know our plugin."""
    plugins = ("-p", "xdist", "-p", "tests.workers", "-p", "no:cacheprovider", f"-n{workers}", "--dist=loadgroup")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-rP", *more, f"--rootdir={folder}", folder],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
    )
