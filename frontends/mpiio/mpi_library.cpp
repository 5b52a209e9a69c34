#include "mpiio/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace thalweg::mpiio {

namespace {

// Set by the build: the two families do not share their handles.
constexpr bool kForOpenMpi = std::string_view(TW_MPIIO_FAMILY) == "openmpi";

bool is_mpi(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  return std::strncmp(name, "libmpi.so", 9) == 0 || std::strncmp(name, "libmpich.so", 11) == 0;
}

int take_if_mpi(dl_phdr_info* info, std::size_t, void* path) {
  if (info->dlpi_name == nullptr || !is_mpi(info->dlpi_name)) return 0;
  *static_cast<std::string*>(path) = info->dlpi_name;
  return 1;
}

// A library that was loaded privately becomes visible to this one, and to those that it needs. It is opened when the walk
// over all libraries has ended, as that holds a lock of the loader.
void* open_mpi() {
  std::string path;
  ::dl_iterate_phdr(take_if_mpi, &path);
  return path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace

namespace {

void* find_next(const char* name) {
  if (void* const next = ::dlsym(RTLD_NEXT, name); next != nullptr) return next;
  void* const library = open_mpi();
  return library != nullptr ? ::dlsym(library, name) : nullptr;
}

}  // namespace

void check_family() {
  const bool is_open_mpi = find_next("ompi_mpi_comm_world") != nullptr;
  if (is_open_mpi == kForOpenMpi) return;
  std::fprintf(
      stderr,
      "thalweg: this libthalweg_mpiio was built for %s, but the program uses %s; preload the one that was built "
      "for it\n",
      kForOpenMpi ? "Open MPI" : "MPICH", is_open_mpi ? "Open MPI" : "MPICH or an MPI of its family");
  std::_Exit(1);
}

void* next_symbol(const char* name) {
  if (void* const found = find_next(name); found != nullptr) return found;
  std::fprintf(stderr, "thalweg: libthalweg_mpiio is loaded, but this process has no MPI library with %s\n", name);
  std::abort();
}

}  // namespace thalweg::mpiio

// The address of a variable of Open MPI (mpi_globals.h).
extern "C" void* tw_mpiio_global(const char* name) {
  static_assert(sizeof(void*) == sizeof(void (*)()));
  if (void* const known = ::dlsym(RTLD_DEFAULT, name); known != nullptr) return known;
  return thalweg::mpiio::next_symbol(name);
}
