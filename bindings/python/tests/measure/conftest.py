"""The package thalweg.measure needs no extension module: where thalweg cannot be imported, an empty package stands for it."""

import importlib.util
import pathlib
import sys
import types

SOURCES = pathlib.Path(__file__).parents[2] / "src"
MISSING = [name for name in ("numpy", "scipy", "pandas", "jinja2", "plotly", "rich") if importlib.util.find_spec(name) is None]

if MISSING:
    collect_ignore_glob = ["test_*.py"]


def pytest_report_header():
    return f"thalweg.measure is not tested without {', '.join(MISSING)}" if MISSING else None


try:
    import thalweg  # noqa: F401
except ImportError:
    package = types.ModuleType("thalweg")
    package.__path__ = [str(SOURCES / "thalweg")]
    sys.modules["thalweg"] = package
