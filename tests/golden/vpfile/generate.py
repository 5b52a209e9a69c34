#!/usr/bin/env python3
"""Adds golden vpfiles that do not exist yet, and their entries to manifest.json.

Usage: generate.py FOLDER      add the vpfiles that write_golden made in FOLDER (see there)
       generate.py             add those of invalid_cases.py

Golden files are never written a second time: one that is there and would come out different ends the program.
"""

import hashlib
import json
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "interop"))
from invalid_cases import CASES, SIDES, Files  # noqa: E402
from multifile_base import crc32c  # noqa: E402
from vpfile_reader_test import expected_streams  # noqa: E402


def digest(data):
    return {"bytes": len(data), "crc32c": f"{crc32c(data):08x}", "sha256": hashlib.sha256(data).hexdigest()}


def store(kind, name, parts):
    """Writes those files that a vpfile has; gives what the manifest says about them."""
    listed = []
    for side, data in zip(SIDES, parts):
        if data is None:
            continue
        path = HERE / kind / f"{name}.vp{side}"
        if path.exists() and path.read_bytes() != data:
            sys.exit(f"{path} is there and has other bytes: golden files are never changed")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        listed.append({"file": f"{kind}/{path.name}", **digest(data)})
    return listed


def valid(folder):
    for text in sorted(folder.glob("*.txt")):
        paths = [folder / f"{text.stem}.vp{side}" for side in SIDES]
        shape, streams = expected_streams(folder / f"{text.stem}.expected")
        files = store("valid", text.stem, [path.read_bytes() if path.exists() else None for path in paths])
        record, description = text.read_text().split(" ", 1)
        yield {"name": text.stem, "description": description, "shape": list(shape), "record": int(record), "files": files,
               "streams": [digest(data) for data in streams]}


def invalid(entries):
    for name, rule, base, code, change in CASES:
        files = Files(base)
        change(files)
        shape, record = next((entry["shape"], entry["record"]) for entry in entries if entry["name"] == base)
        yield {"name": name, "rule": rule, "shape": shape, "record": record, "code": code, "files": store("invalid", name, files.parts)}


def main(argv):
    path = HERE / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"valid": [], "invalid": []}
    kind = "valid" if len(argv) == 2 else "invalid"
    for entry in valid(pathlib.Path(argv[1])) if kind == "valid" else invalid(manifest["valid"]):
        old = [e for e in manifest[kind] if e["name"] == entry["name"]]
        if old and old != [entry]:
            sys.exit(f"{entry['name']}: the manifest says otherwise: golden files are never changed")
        if not old:
            manifest[kind].append(entry)
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
