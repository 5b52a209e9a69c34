"""Annotations and stubs: they are those of the modules, and enough for a strict type checker."""

import ast
import os
import pathlib
import subprocess
import sys

import pytest
import thalweg
import typed_program
from thalweg import _core

# The extension is compared below. EndOfStream has its results wherever it is raised, though its class has none.
EXCEPTIONS = r"""
thalweg\._core\..*
thalweg\.errors\.EndOfStream\.(array|counts)
"""


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Runs a program of mypy."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "mypy.ini").write_text(f"[mypy]\ncache_dir = {folder / 'cache'}\nstrict = true\nignore_missing_imports = true\n"
                                     "[mypy-thalweg.*]\ndisallow_untyped_calls = false\ndisallow_untyped_defs = false\n")
    (folder / "exceptions.txt").write_text(EXCEPTIONS)
    above = str(pathlib.Path(thalweg.__file__).parents[1])
    environment = dict(os.environ)
    if not above.endswith("site-packages"):
        environment |= {"MYPYPATH": above, "PYTHONPATH": above}

    def run(*arguments):
        ended = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr

    return run


def test_a_typed_program_runs(tmp_path):
    typed_program.main(tmp_path)


def test_a_typed_program_is_accepted_by_a_strict_checker(check):
    check("mypy", "--config-file", "mypy.ini", typed_program.__file__)


def test_stubs_agree_with_the_modules(check):
    modules = [f"thalweg.{stub.stem}" for stub in pathlib.Path(thalweg.__file__).parent.glob("*.pyi") if stub.stem != "_core"]
    check("mypy.stubtest", *modules, "--mypy-config-file", "mypy.ini", "--allowlist", "exceptions.txt", "--ignore-unused-allowlist")


def names_of(arguments):
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args) if one.arg != "self"]


# Functions of nanobind have their signatures as text.
def signatures(thing):
    return [names_of(ast.parse(f"{one[0]}: ...").body[0].args) for one in thing.__nb_signature__]


def test_the_stub_has_what_the_extension_has():
    stub = ast.parse(pathlib.Path(_core.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    found = {}
    for node in stub.body:
        if isinstance(node, ast.ClassDef):
            found[node.name] = None
            found.update((f"{node.name}.{inner.name}", names_of(inner.args)) for inner in node.body)
        elif isinstance(node, ast.FunctionDef):
            found[node.name] = names_of(node.args)
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = None
    public = {name: getattr(_core, name) for name in dir(_core) if not name.startswith("_")}
    for kind in [thing for thing in public.values() if isinstance(thing, type)]:
        public |= {f"{kind.__name__}.{name}": getattr(kind, name) for name in dir(kind)
                   if not name.startswith("_") or (name == "__init__" and f"{kind.__name__}.__init__" in found)}
    assert public.keys() == found.keys()
    for name, thing in public.items():
        if hasattr(thing, "__nb_signature__"):
            assert found[name] in signatures(thing), name
