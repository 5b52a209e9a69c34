#!/usr/bin/env python3
"""Every method is listed: as built with its library, or as not built with the reason and the remedy. Runs without MPI."""

import json
import os
import subprocess

from probe_support import GLOBAL, IDS, MEMBERS, OVERLAPPING, PROGRAM, TIMEOUT, WITHOUT_LIBRARIES, ProbeTest, cell, main

OF_LIBRARIES = {
    "hdf5-contiguous-independent": "HDF5", "hdf5-contiguous-collective": "HDF5", "hdf5-chunked-independent": "HDF5",
    "hdf5-chunked-collective": "HDF5", "pnetcdf": "PnetCDF", "sionlib": "SIONlib",
}


def describe(program):
    done = subprocess.run([program, "--describe"], capture_output=True, text=True, timeout=TIMEOUT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Describe(ProbeTest):
    def check_methods(self, methods):
        self.assertEqual([method["id"] for method in methods], list(IDS))
        self.assertEqual([method["number"] for method in methods], list(range(1, 23)))
        for method in methods:
            self.assert_members(method, MEMBERS["method"])
            self.assertEqual(method["built"], method["reason"] is None, method)
            self.assertEqual(method["needs"], OF_LIBRARIES.get(method["id"], ""))
            self.assertEqual(method["outcome"] == "array", method["id"] in GLOBAL)
            self.assertEqual(method["nonblocking"], method["id"] in OVERLAPPING)
            if not method["built"]:
                self.assertTrue(method["reason"].startswith("not built: "), method)
                self.assertIn(OF_LIBRARIES[method["id"]], method["reason"])

    def test_lists_all(self):
        said = describe(PROGRAM)

        self.check_methods(said["methods"])
        self.assertEqual(said["kind"], os.environ["TW_MPI_KIND"])
        self.assertTrue(os.access(said["mpiexec"], os.X_OK))
        for method in said["methods"]:
            if method["built"] and method["id"] in OF_LIBRARIES:
                self.assertRegex(method["library"], f"^{OF_LIBRARIES[method['id']]} [0-9]+\\.[0-9]+")

    def test_lists_all_where_no_library_was_found(self):
        said = describe(WITHOUT_LIBRARIES)

        self.check_methods(said["methods"])
        self.assertEqual({method["id"] for method in said["methods"] if not method["built"]}, set(OF_LIBRARIES))

    def test_a_method_that_is_not_built_is_refused_with_the_reason(self):
        launch = self.launch(2, "--dir", self.folder, "--methods", "gather,hdf5-chunked-collective", "--cell", cell((8, 8)),
                             program=WITHOUT_LIBRARIES)

        self.assertNotEqual(launch.code, 0)
        self.assertIn("hdf5-chunked-collective is not built: HDF5 was not found", launch.failure[0]["message"])


if __name__ == "__main__":
    main()
