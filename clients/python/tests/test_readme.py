"""The samples of the README name what the package has."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
SAMPLES = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def test_samples_compile_and_import_what_is_there() -> None:
    assert len(SAMPLES) > 1
    for sample in SAMPLES:
        for node in ast.walk(ast.parse(sample)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = importlib.import_module(node.module)
                assert [name.name for name in node.names if not hasattr(module, name.name)] == []
