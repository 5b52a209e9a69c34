// Makes an MPICH that waits on UCX yield, for runs with more ranks than cores: preload bench_yield.so. Before 4.2 MPICH
// has no setting for that, and a rank that spins through its time slices distorts the measurement.
#include <dlfcn.h>
#include <sched.h>

extern "C" __attribute__((visibility("default"))) unsigned ucp_worker_progress(void* worker) {
  static auto* const real = reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  const unsigned events = real(worker);
  if (events == 0) sched_yield();
  return events;
}
