"""Types of arguments that several public calls take, for type checkers."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias

if TYPE_CHECKING:  # Any where mpi4py is not installed
    from mpi4py.MPI import Intracomm as Comm  # type: ignore[import-not-found,unused-ignore]

Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
Shape: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
Hints: TypeAlias = str | Mapping[str, object]
Progress: TypeAlias = Callable[[int, int], object] | bool | None
