// What the parts of the extension thalweg._core share.
#pragma once

#include <nanobind/nanobind.h>

namespace thalweg_python {

// Text of the system, such as a message with a path.
inline nanobind::object text(const char* bytes) { return nanobind::steal(PyUnicode_DecodeFSDefault(bytes)); }

// Raises an exception that was caught earlier.
[[noreturn]] inline void raise_again(const nanobind::object& error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nanobind::python_error();
}

// Adds the calls that work on a whole vpfile that nobody has open (_core_whole.cpp).
void define_whole_files(nanobind::module_& m);

}  // namespace thalweg_python
