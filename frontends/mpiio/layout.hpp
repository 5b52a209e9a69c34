// Layout: where the bytes of a datatype lie, as a view of the library: a tree of the datatype's own constructors, never
// expanded.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "mpiio/failure.hpp"
#include "thalweg/view.h"

namespace thalweg::mpiio {

struct Representation;

struct FreeView {
  void operator()(tw_view* view) const { tw_view_free(&view); }
};
using ViewPtr = std::unique_ptr<tw_view, FreeView>;

// One instance of a datatype: byte `base + offset` of memory or of the file belongs to byte `offset` of the view. The
// next instance lies `extent` bytes behind it, or before it. The extent of the view plays no part.
struct Layout {
  ViewPtr view;  // null: `size` bytes in one run
  std::int64_t base = 0;
  std::int64_t lower = 0;  // the lower bound
  std::int64_t extent = 0;
  std::int64_t size = 0;
  bool decreases = false;  // a block begins below the one before it
  bool is_run() const { return view == nullptr; }
};

// The layout of a datatype in memory, kept with it. Valid as long as the datatype.
const Layout* layout_of(MPI_Datatype type, Failure& failure);
// The layout in a file of this representation, made in `own`; without a representation it is that in memory.
const Layout* layout_in_file(MPI_Datatype type, const Representation* representation, Layout& own, Failure& failure);
// `count` instances.
Layout repeat(const Layout& one, std::int64_t count, Failure& failure);
// One instance as a view from byte 0 on, whose copies are its extent apart. Its base and its extent are not negative.
ViewPtr view_from_start(const Layout& one, Failure& failure);

bool is_predefined(MPI_Datatype type);

}  // namespace thalweg::mpiio
