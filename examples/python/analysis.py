"""Stores a checkpoint, and reads it where it lies: arrays with xarray and zarr, text and tables with fsspec and pandas.

python analysis.py: needs xarray, fsspec, zarr and pandas
"""
import fsspec
import numpy as np
import pandas as pd
import thalweg
import xarray as xr
import zarr

u = np.add.outer(np.arange(256), np.arange(128) / 128)

with thalweg.Multifile("ckpt.tw", "w") as mf:
    mf.save("u", u, dims=("y", "x"))                          # names of the dimensions, for xarray
    mf.add("logs/rank0.txt").write(b"step 1\n")

with xr.open_dataset("ckpt.tw", engine="thalweg") as ds:      # chunks={} for dask
    total = ds.u[:, 64].sum().item()                          # reads what it needs
    dims = ds.u.dims

with fsspec.open("thalweg://logs/rank0.txt::ckpt.tw", "rt") as log:
    text = log.read().strip()

table = pd.DataFrame({"step": [1, 2], "energy": [0.5, 0.25]})
table.to_csv("thalweg://energy.csv::ckpt.tw", index=False)    # adds a logical file
again = pd.read_csv("thalweg://energy.csv::ckpt.tw")

with fsspec.filesystem("thalweg", fo="fields.tw", mode="w") as fs:    # many files: complete at the end of the block
    store = zarr.storage.FsspecStore.from_mapper(fs.get_mapper("fields"))
    zarr.open_group(store, mode="w").create_array("u", data=u, chunks=(128, 128))
fields = zarr.open_group("thalweg://fields::fields.tw", mode="r")

print(dims, total, text, again.equals(table), fields["u"][128, 64])
