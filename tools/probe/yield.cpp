// An MPICH that waits on UCX spins, and before 4.2 it has no setting to yield. A rank that spins through its time
// slices distorts the measurement, so this program defines UCX's progress function, which the dynamic linker uses in
// place of UCX's. Open MPI yields by itself when it detects too few cores.
#include "yield.hpp"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cstring>

namespace probe {

namespace {

std::atomic<bool> asked = false;
std::atomic<bool> used = false;

// The control variable of Open MPI with this name. Other MPIs are not queried: MPICH 4.0 crashes.
bool control_is_on(const char* wanted) {
  if (std::strcmp(TW_MPI_KIND, "openmpi") != 0) return false;
  int provided = 0;
  int variables = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
  bool on = false;
  MPI_T_cvar_get_num(&variables);
  for (int i = 0; i < variables; ++i) {
    std::array<char, 256> name{};
    int length = name.size();
    int described = 0;
    int verbosity = 0;
    int binding = 0;
    int scope = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum values = MPI_T_ENUM_NULL;
    if (MPI_T_cvar_get_info(i, name.data(), &length, &verbosity, &type, &values, nullptr, &described, &binding,
                            &scope) != MPI_SUCCESS ||
        std::strcmp(name.data(), wanted) != 0)
      continue;
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int count = 0;
    std::array<std::byte, 64> value{};
    if (MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count) != MPI_SUCCESS) break;
    if (count == 1 && MPI_T_cvar_read(handle, value.data()) == MPI_SUCCESS) on = value[0] != std::byte{0};
    MPI_T_cvar_handle_free(&handle);
    break;
  }
  MPI_T_finalize();
  return on;
}

}  // namespace

void yield_while_waiting() { asked = true; }

bool yields() { return (asked && used) || control_is_on("mpi_yield_when_idle"); }

// Called by MPI in place of UCX's function.
extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static auto* const real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned events = real(worker);
  used.store(true, std::memory_order_relaxed);
  if (events == 0 && asked.load(std::memory_order_relaxed)) sched_yield();
  return events;
}

}  // namespace probe
