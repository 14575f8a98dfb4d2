"""How long the shell takes to start: `python -m tests.benchmarks.bench_start`.

CPU time of `python -m courtroom cases` in processes of their own, as a multiple of what it takes to import pydantic and typer.
The best of several tries counts: what else the machine does can only add to it.
"""

import os
import resource
import subprocess
import sys
import tempfile

TRIES = 10


def cpu_s(*words: str) -> float:
    """The least CPU time that such a Python process took, in seconds."""
    best = float("inf")
    for _ in range(TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as home:
        os.environ["COURTROOM_HOME"] = home
        bare = cpu_s("-c", "import pydantic, typer")
        cases = cpu_s("-m", "courtroom", "cases")
    print(f"import pydantic, typer       {bare:.3f} s")
    print(f"python -m courtroom cases    {cases:.3f} s, {cases / bare:.1f} times as much")


if __name__ == "__main__":
    main()
