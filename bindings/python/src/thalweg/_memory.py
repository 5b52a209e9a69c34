"""Memory of NumPy arrays in the form of `_core`, which is tw_vpfile_data of thalweg/vpfile.h."""

import math

import numpy as np

from .errors import InvalidArgument

NOTHING = (0, 0, 0, 0, 0, None)  # items of 0 bytes: the library refuses them, on all tasks


def dtype_of(dtype, call):
    """The dtype, which must not contain Python objects."""
    kind = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError(f"{call}: {kind} contains Python objects, which cannot be stored")
    if kind.itemsize == 0:
        raise InvalidArgument(f"{call}: items of {kind} have zero bytes")
    return kind


def plain(array, call):
    """The array, whose dtype must not contain Python objects."""
    dtype_of(array.dtype, call)
    return array


def address(array):
    """Address of an array; 0 for None."""
    return 0 if array is None else array.__array_interface__["data"][0]


def vp_strides(shape, nbytes):
    """The strides of consecutive VPs with nbytes each."""
    strides = []
    for extent in reversed(shape):
        strides.append(nbytes)
        nbytes *= max(extent, 1)
    return strides[::-1]


def of(array, n_dims):
    """Memory of the VPs' data for `_core`; None without a single stride."""
    if array.size == 0:  # NumPy may have strides of 0
        return address(array), array.itemsize, math.prod(array.shape[n_dims:]), 0, 0, None
    shape, strides = array.shape[n_dims:], array.strides[n_dims:]
    item_bytes, n_items, item_stride = array.itemsize, 1, 0
    dims = [(n, stride) for n, stride in zip(shape, strides) if n != 1]
    while dims and dims[-1][1] == item_bytes:
        item_bytes *= dims.pop()[0]
    for n, stride in reversed(dims):
        if item_stride == 0:
            item_stride = stride
        if stride == 0 or stride != item_stride * n_items:
            return None
        n_items *= n
    return address(array), item_bytes, n_items, 0, item_stride, list(array.strides[:n_dims])
