#include "mpiio_access.hpp"

#include <algorithm>

#include "pieces.hpp"

namespace probe {

namespace {

using SeeStretch = std::function<void(const Stretch&)>;

// The elements of the file that a rank moves, in rising order; one call can move each stretch.
class Places {
 public:
  explicit Places(const Task& task) : array_(*task.array), block_(task.block) {}
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  virtual ~Places() = default;

  void for_each(const SeeStretch& see) const {
    walk([&](Stretch run) {
      while (run.length > 0) {
        const std::int64_t n = std::min(run.length, kMostElements);
        see({run.in_file, run.in_memory, n});
        run = {run.in_file + n, run.in_memory + n, run.length - n};
      }
    });
  }
  std::int64_t count() const {
    std::int64_t stretches = 0;
    for_each([&](const Stretch&) { ++stretches; });
    return stretches;
  }

 protected:
  virtual void walk(const SeeStretch& see) const = 0;
  const Array& array_;
  const Block& block_;
};

class PlacesInArray : public Places {
 public:
  using Places::Places;

 protected:
  void walk(const SeeStretch& see) const override {
    for_each_run(array_, block_, [&](const Run& run) { see({run.in_array, run.in_block, run.length}); });
  }
};

class PlacesInChunks : public Places {
 public:
  explicit PlacesInChunks(const Task& task) : Places(task), pieces_(task.pieces) {}

 protected:
  void walk(const SeeStretch& see) const override {
    for (const Piece& piece : pieces_)
      for_each_shared_run(array_, piece.block, block_, [&](const SharedRun& run) {
        see({piece.offset + run.in_first, run.in_second, run.length});
      });
  }

 private:
  const std::vector<Piece>& pieces_;
};

// One call per stretch. Collectively, all ranks make as many calls as the rank with most stretches.
void move_stretches(MpiioFile& file, const Task& task, const Places& places, bool together) {
  std::int64_t mine = 0;
  std::int64_t most = 0;
  if (together) {
    mine = places.count();
    must_mpi(MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, task.comm), "MPI_Allreduce");
  }
  places.for_each([&](const Stretch& stretch) {
    file.move_at(stretch.in_file * kElement, task.memory.data() + stretch.in_memory * kElement, stretch.length,
                 together);
  });
  for (; mine < most; ++mine) file.move_at(0, task.memory.data(), 0, true);
}

// Chunks in a view: one stretch needs no type; several need one for the file and one for memory.
void move_in_view(MpiioFile& file, const Task& task, const Places& places, bool together) {
  std::vector<Stretch> stretches;
  places.for_each([&](const Stretch& stretch) { stretches.push_back(stretch); });
  if (stretches.size() <= 1) {
    file.view_elements(stretches.empty() ? 0 : stretches.front().in_file * kElement);
    return file.move(task.memory.data(), static_cast<int>(task.block.elements()), MPI_FLOAT, together);
  }
  const Datatype view = indexed_type(stretches, &Stretch::in_file);
  const Datatype memory = indexed_type(stretches, &Stretch::in_memory);
  file.view_type(view.get());
  file.move(task.memory.data(), 1, memory.get(), together);
}

bool is_together(int level) { return level % 2 == 1; }
bool has_view(int level) { return level >= 2; }

}  // namespace

void view_block(MpiioFile& file, const Task& task) {
  if (task.block.elements() == 0) return file.view_elements(0);
  std::vector<Stretch> rows;
  if (task.array->ragged) PlacesInArray(task).for_each([&](const Stretch& row) { rows.push_back(row); });
  const Datatype type =
      task.array->ragged ? indexed_type(rows, &Stretch::in_file) : subarray_type(*task.array, task.block);
  file.view_type(type.get());  // the view keeps the type
}

void move_in_array(MpiioFile& file, const Task& task, int level) {
  if (!has_view(level)) return move_stretches(file, task, PlacesInArray(task), is_together(level));
  view_block(file, task);
  const MemoryType memory(task.block.elements());
  file.move(task.memory.data(), memory.count, memory.type, is_together(level));
}

void move_in_chunks(MpiioFile& file, const Task& task, int level) {
  const PlacesInChunks places(task);
  if (has_view(level)) return move_in_view(file, task, places, is_together(level));
  move_stretches(file, task, places, is_together(level));
}

}  // namespace probe
