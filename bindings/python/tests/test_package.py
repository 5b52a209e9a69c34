"""The package itself: documented, typed, and without MPI inside."""

import inspect
import subprocess
import sys

import pytest
import thalweg
from thalweg import _core, multifile, vp

# Only the constructor and close() of a multifile are collective, as the class says.
INDEPENDENT = [(multifile, name) for name in multifile.__all__] + [
    (kind, name) for kind in (multifile.Multifile, multifile.Array, multifile.Request) for name in dir(kind)
    if not name.startswith("_")] + [
    (multifile.Multifile, name) for name in ("__getitem__", "__exit__", "__iter__", "__len__")]
PUBLIC = [(thalweg, name) for name in thalweg.__all__] + [(thalweg.errors, name) for name in thalweg.errors.__all__] + [
    (vp, name) for name in vp.__all__] + [(vp.VpFile, name) for name in dir(vp.VpFile) if not name.startswith("_")] + [
    (vp.VpFile, name) for name in ("__getitem__", "__enter__", "__exit__")]


@pytest.mark.parametrize(("owner", "name"), PUBLIC + INDEPENDENT, ids=lambda value: getattr(value, "__name__", value))
def test_public_names_have_docstrings(owner, name):
    thing = getattr(owner, name)
    assert inspect.getdoc(thing), f"{owner.__name__}.{name} has no docstring"
    if inspect.isfunction(thing):
        arguments = [argument for argument in inspect.signature(thing).parameters if argument not in ("self", "exception")]
        for argument in arguments:
            assert argument in thing.__doc__, f"{owner.__name__}.{name}: the docstring does not tell of {argument}"
        if arguments:
            assert "Raises\n" in thing.__doc__ or name == "tell" or (owner, name) in INDEPENDENT
            assert (owner, name) in INDEPENDENT or "ollective" in thing.__doc__, f"{owner.__name__}.{name}: is it collective?"


def test_every_status_has_a_class():
    assert set(thalweg.errors._CLASSES) == set(_core.status)


def test_what_fsspec_and_xarray_look_for_is_there():
    from importlib.metadata import distribution
    points = [point for point in distribution("thalweg").entry_points if point.group in ("fsspec.specs", "xarray.backends")]
    assert sorted((point.group, point.name) for point in points) == [("fsspec.specs", "thalweg"), ("xarray.backends", "thalweg")]
    for point in points:
        pytest.importorskip(point.group.split(".")[0])
        kind = point.load()
        for name in (name for name, thing in vars(kind).items() if not name.startswith("_") and inspect.isfunction(thing)):
            text = inspect.getdoc(getattr(kind, name))
            for argument in inspect.signature(getattr(kind, name)).parameters:
                assert argument in ("self", "kwargs") or argument in text, f"{kind.__name__}.{name}: {argument}"


def test_mpi_is_neither_linked_nor_imported():
    libraries = subprocess.run(["ldd", _core.__file__], check=True, capture_output=True, text=True).stdout
    assert "libmpi" not in libraries and "libgomp" not in libraries and "libthalweg" not in libraries
    program = "import sys, thalweg; sys.exit(bool({'mpi4py', 'fsspec', 'xarray'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_package_has_the_version_of_the_library():
    from importlib.metadata import version
    assert thalweg.__version__ == version("thalweg")
