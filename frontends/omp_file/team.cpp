#include "omp_file/team.hpp"

#include <mutex>
#include <new>

#include "omp_file/brief_lock.hpp"

// Of the OpenMP runtime of the program; null where there is none.
extern "C" {
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
__attribute__((weak)) void* GOMP_single_copy_start(void);
__attribute__((weak)) void GOMP_single_copy_end(void* data);
}

namespace thalweg::omp_file {

namespace {

// Teams that nobody uses, by number of threads; a stack for each of the small numbers, and one for all others. Groups
// of many threads are large, so that only a few of those are kept.
class TeamPool {
 public:
  Team* take(std::int64_t size) {
    const std::lock_guard hold(lock_);
    Stack& idle = stack_of(size);
    for (Team** link = &idle.top; *link != nullptr; link = &(*link)->below) {
      Team* team = *link;
      if (team->size != size) continue;
      *link = team->below;
      --idle.height;
      return team;
    }
    return nullptr;
  }

  // False when enough are kept already.
  bool give(Team* team) {
    const std::lock_guard hold(lock_);
    Stack& idle = stack_of(team->size);
    if (idle.height >= (team->size <= kSmall ? 64 : 16)) return false;
    team->below = idle.top;
    idle.top = team;
    ++idle.height;
    return true;
  }

 private:
  static constexpr std::int64_t kSmall = 16;
  struct Stack {
    Team* top = nullptr;
    int height = 0;
  };
  Stack& stack_of(std::int64_t size) { return stacks_[size <= kSmall ? size : 0]; }

  BriefLock lock_;
  Stack stacks_[kSmall + 1];  // guarded by lock_; [0] is for the others
};

// Made when the library is loaded, and never destroyed: threads may be at work while the process ends.
auto& pool = *new TeamPool;

bool make_groups(Team& team) {
  if (team.size == 1) return tw_group_self(&team.seats[0].group) == TW_OK;
  tw_team* shared = nullptr;
  bool made = tw_team_create(team.size, &shared) == TW_OK;
  for (std::int64_t rank = 0; made && rank < team.size; ++rank) {
    made = tw_group_team(shared, rank, &team.seats[static_cast<std::size_t>(rank)].group) == TW_OK;
  }
  tw_team_free(shared);
  return made;
}

}  // namespace

Team::Team(std::int64_t tasks) : size(tasks), seats(new Seat[static_cast<std::size_t>(tasks)]) {
  whole = make_groups(*this);
}

Team::~Team() {
  for (std::int64_t rank = 0; rank < size; ++rank) tw_group_free(seats[static_cast<std::size_t>(rank)].group);
}

Place Meeting::find_place() {
  if (omp_get_num_threads == nullptr || omp_get_thread_num == nullptr || GOMP_single_copy_start == nullptr ||
      GOMP_single_copy_end == nullptr) {
    return {.rank = 0, .size = 1};
  }
  return {.rank = omp_get_thread_num(), .size = omp_get_num_threads()};
}

// An address that is neither null, which would ask the next thread to come first, nor a team.
Team* Meeting::no_team() {
  alignas(Team) static char mark;
  return reinterpret_cast<Team*>(&mark);
}

Team* Meeting::take_team(std::int64_t size) {
  Team* team = pool.take(size);
  try {
    if (team == nullptr) team = new Team(size);
  } catch (const std::bad_alloc&) {
    return no_team();
  }
  if (!team->whole) {
    delete team;
    return no_team();
  }
  team->shared = {};
  team->begun.store(0, std::memory_order_relaxed);
  team->claimed = false;
  // Relaxed: the others get the team through the runtime's barrier.
  team->inside.store(size, std::memory_order_relaxed);
  return team;
}

void Meeting::give_team(Team* team) {
  constexpr std::size_t kKeptExtents = 4096;
  for (std::int64_t rank = 0; rank < team->size; ++rank) {
    std::vector<tw_extent>& list = team->seats[static_cast<std::size_t>(rank)].list;
    if (list.capacity() > kKeptExtents) std::vector<tw_extent>().swap(list);
  }
  if (!pool.give(team)) delete team;
}

Team* Meeting::meet() { return static_cast<Team*>(GOMP_single_copy_start()); }
void Meeting::present(Team* team) { GOMP_single_copy_end(team); }

// What the team shares may change as soon as all have come; the file stays until this thread has come to an agreement.
void Meeting::gather() {
  OpenFile* const file = absent() ? nullptr : shared().file;
  if (file != nullptr) file->gathering.fetch_add(1, std::memory_order_release);
  present(team_);
  if (file != nullptr) file->gathering.fetch_sub(1, std::memory_order_release);
}

tw_status let_go_of_file(Team& team) {
  OpenFile* file = team.shared.file;
  if (file == nullptr) return TW_OK;
  if (team.shared.locked) file->busy.unlock();
  team.shared.file = nullptr;
  return release(file);
}

}  // namespace thalweg::omp_file
