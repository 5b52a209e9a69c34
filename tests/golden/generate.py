#!/usr/bin/env python3
"""Adds golden files that do not exist yet, and their entries to manifest.json.

Usage: generate.py             add the cases of valid_cases.py and invalid_cases.py
       generate.py FOLDER      add the multifiles that write_golden made in FOLDER (see there)

Golden files are never written a second time: a file that is there and would come out different ends the program. A
change of the format raises its version: delete the files of the version before and the manifest, but keep one of them as
written_as_version_N, an invalid case.
"""

import hashlib
import json
import pathlib
import sys

import invalid_cases
import valid_cases
from craft import crc32c

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
from multifile_base import Refused, split_name  # noqa: E402
from multifile_reader import Multifile  # noqa: E402


def digest(data):
    return {"bytes": len(data), "crc32c": f"{crc32c(data):08x}", "sha256": hashlib.sha256(data).hexdigest()}


def store(folder, name, parts):
    """Writes the physical files of one multifile; gives what the manifest says about them."""
    listed = []
    for number, data in enumerate(parts):
        path = HERE / folder / (name + ".tw" + (f".{number:06d}" if number else ""))
        if path.exists() and path.read_bytes() != data:
            sys.exit(f"{path} is there and has other bytes: golden files are never changed")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        listed.append({"file": f"{folder}/{path.name}", **digest(data)})
    return listed


def content(logical):
    """The bytes of a logical file; None when a recovery found some of them lost."""
    try:
        return b"".join(logical.blocks())
    except Refused:
        return None


def described(multifile):
    """What a reader must find, as the independent reader finds it."""
    logical = []
    for found in multifile:
        name, part = split_name(found.name)
        about = {"name": name.decode("latin-1"), "mode": found.mode, **({} if part is None else {"part": part})}
        data = content(found)
        logical.append({**(digest(data) if data is not None else {"bytes": found.size, "code": "TW_ERR_CORRUPT"}), **about})
    return {"attributes": {k.decode("latin-1"): v.decode("latin-1") for k, v in multifile.attributes.items()},
            "logical": logical}


def valid(name, text, mode, parts, known=None):
    files = store("valid", name, parts)
    multifile = Multifile(str(HERE / "valid" / (name + ".tw")), mode == "recover")
    if known is not None:  # the case knows better than the reader
        assert [known[rank] for rank in sorted(known)] == [content(found) for found in multifile], name
    return {"name": name, "description": text, "open": mode, "files": files, **described(multifile)}


def crafted():
    for mode, cases in (("read", valid_cases.READ), ("recover", valid_cases.RECOVER)):
        for case in cases:
            parts, known = case()
            text = " ".join((case.__doc__ or case.__name__.replace("_", " ")).split())
            yield "valid", valid(case.__name__, text, mode, [bytes(p.bytes) for p in parts], known)
    for name, rule, mode, code, parts in invalid_cases.all_cases():
        files = store("invalid", name, [bytes(p.bytes) for p in parts])
        yield "invalid", {"name": name, "rule": rule, "open": mode, "code": code, "files": files}


def written_by_library(folder):
    for listed in sorted(folder.glob("*.txt")):
        mode, text = listed.read_text().strip().split(" ", 1)
        paths = sorted(folder.glob(listed.stem + ".tw*"))
        yield "valid", valid(listed.stem, text, mode, [path.read_bytes() for path in paths])


def main(argv):
    path = HERE / "manifest.json"
    manifest = json.loads(path.read_text()) if path.exists() else {"valid": [], "invalid": []}
    for kind, entry in written_by_library(pathlib.Path(argv[1])) if len(argv) == 2 else crafted():
        old = [e for e in manifest[kind] if e["name"] == entry["name"]]
        if old and old != [entry]:
            sys.exit(f"{entry['name']}: the manifest says otherwise: golden files are never changed")
        if not old:
            manifest[kind].append(entry)
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
