// All accesses to data by their names: {read, write} x pointer x {independent, collective} x {blocking, nonblocking,
// split} x {int, MPI_Count}. The functions are looked up, as an older mpi.h declares some of them only.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {

enum class Pointer { given, individual, shared };

struct Call {
  std::string kind;  // behind read or write: "_at_all"
  Pointer pointer = Pointer::given;
  bool collective = false;
  bool ordered = false;
  enum class Style { blocking, nonblocking, split } style = Style::blocking;
  bool large = false;  // the twin for MPI_Count

  std::string name(bool write) const {
    const std::string base = std::string(style == Style::nonblocking ? "i" : "") + (write ? "write" : "read") + kind;
    return "MPI_File_" + base + (style == Style::split ? "_begin" : "") + (large ? "_c" : "");
  }
};

// Those of the library in force: without the twins where the MPI's own has none.
inline std::vector<Call> all_calls() {
  std::vector<Call> made;
  for (const bool large : {false, true}) {
    if (large && function_named<int()>("MPI_File_write_at_c") == nullptr) break;
    using Style = Call::Style;
    for (const Style style : {Style::blocking, Style::nonblocking, Style::split}) {
      const bool split = style == Style::split, nonblocking = style == Style::nonblocking;
      if (!split) {
        made.push_back({"_at", Pointer::given, false, false, style, large});
        made.push_back({"", Pointer::individual, false, false, style, large});
        made.push_back({"_shared", Pointer::shared, false, false, style, large});
      }
      made.push_back({"_at_all", Pointer::given, true, false, style, large});
      made.push_back({"_all", Pointer::individual, true, false, style, large});
      if (!nonblocking) made.push_back({"_ordered", Pointer::shared, true, true, style, large});
    }
  }
  return made;
}

// Calls the function with its parameters: the offset, where it has one, and the last ones.
template <class Count, class... Last>
int call_counted(const Call& call, const std::string& name, MPI_File file, MPI_Offset offset, void* data, Count count,
                 MPI_Datatype type, Last... last) {
  if (call.pointer == Pointer::given)
    return function_named<int(MPI_File, MPI_Offset, void*, Count, MPI_Datatype, Last...)>(name)(file, offset, data,
                                                                                                count, type, last...);
  return function_named<int(MPI_File, void*, Count, MPI_Datatype, Last...)>(name)(file, data, count, type, last...);
}

template <class... Last>
int call_by_name(const Call& call, bool write, MPI_File file, MPI_Offset offset, void* data, int count,
                 MPI_Datatype type, Last... last) {
  const std::string name = call.name(write);
  if (call.large) return call_counted(call, name, file, offset, data, MPI_Count{count}, type, last...);
  return call_counted(call, name, file, offset, data, count, type, last...);
}

// One access that is waited for; `offset` is that of calls with an offset.
inline int access(const Call& call, bool write, MPI_File file, MPI_Offset offset, void* data, int count,
                  MPI_Datatype type, MPI_Status* status) {
  if (call.style == Call::Style::blocking) return call_by_name(call, write, file, offset, data, count, type, status);
  if (call.style == Call::Style::nonblocking) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = call_by_name(call, write, file, offset, data, count, type, &request);
    return error != MPI_SUCCESS ? error : MPI_Wait(&request, status);
  }
  if (const int error = call_by_name(call, write, file, offset, data, count, type); error != MPI_SUCCESS) return error;
  const std::string end = std::string("MPI_File_") + (write ? "write" : "read") + call.kind + "_end";
  return function_named<int(MPI_File, void*, MPI_Status*)>(end)(file, data, status);
}

}  // namespace thalweg::test
