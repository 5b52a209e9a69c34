// Shared by the parts of the extension thalweg._core.
#pragma once

#include <nanobind/nanobind.h>

namespace thalweg_python {

// Text in the system's encoding, such as a message with a path.
inline nanobind::object text(const char* bytes) { return nanobind::steal(PyUnicode_DecodeFSDefault(bytes)); }

// Raises an exception caught earlier.
[[noreturn]] inline void raise_again(const nanobind::object& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nanobind::python_error();
}

// Adds the calls on a whole vpfile that no handle has open (_core_whole.cpp).
void define_whole_files(nanobind::module_& m);

}  // namespace thalweg_python
