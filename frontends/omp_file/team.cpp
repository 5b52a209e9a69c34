#include "omp_file/team.hpp"

#include <cstdint>
#include <mutex>
#include <new>
#include <string_view>

#include "omp_file/brief_lock.hpp"

// Functions of the program's OpenMP runtime; null when missing.
extern "C" {
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_get_num_threads(void);
__attribute__((weak)) int omp_in_explicit_task(void);
__attribute__((weak)) void* GOMP_single_copy_start(void);
__attribute__((weak)) void GOMP_single_copy_end(void* data);
// GCC's entry point for loops with scans: `*memory`, a size, becomes zeroed memory that all threads share until each
// has ended the loop. No thread waits. libomp has the symbol, but not the memory.
__attribute__((weak)) bool GOMP_loop_start(long start, long end, long step, long schedule, long chunk, long* first,
                                           long* last, std::uintptr_t* reductions, void** memory);
__attribute__((weak)) void GOMP_loop_end_nowait(void);
__attribute__((weak)) void __kmpc_barrier(void* place, std::int32_t thread);  // defined by libomp, not by libgomp
}

namespace thalweg::omp_file {

namespace {

// Unused teams by number of threads; a stack for each small number, and one for all others. Groups of many threads are
// large, so only few of those are kept.
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

  // False when enough teams are kept.
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
  Stack stacks_[kSmall + 1];  // guarded by lock_; [0] is for all other sizes
};

// Created when the library is loaded and never destroyed: threads may still run while the process exits.
auto& pool = *new TeamPool;

constexpr long kStaticSchedule = 1;
constexpr std::uintptr_t kFinding = 1;  // on a desk: the first thread is choosing a team

bool loops_share_memory() {
  return GOMP_loop_start != nullptr && GOMP_loop_end_nowait != nullptr && __kmpc_barrier == nullptr;
}

bool make_groups(Team& team) {
  if (team.size == 1) return tw_group_self(&team.seats[0].group) == TW_OK;
  tw_team* shared = nullptr;
  bool made = tw_team_create(team.size, &shared) == TW_OK;
  for (std::int64_t rank = 0; made && rank < team.size; ++rank) {
    made = tw_group_team(shared, rank, &team.seats[static_cast<std::size_t>(rank)].group) == TW_OK;
  }
  tw_team_free(&shared);
  return made;
}

}  // namespace

void Seat::keep(tw_status said) {
  status = said;
  os_errno = said == TW_OK ? 0 : tw_last_errno();
  const char* const text = said == TW_OK ? "" : tw_last_error();
  message[std::string_view(text).copy(message.data(), message.size() - 1)] = '\0';
}

Team::Team(std::int64_t tasks) : size(tasks), seats(new Seat[static_cast<std::size_t>(tasks)]) {
  whole = make_groups(*this);
}

Team::~Team() {
  for (std::int64_t rank = 0; rank < size; ++rank) tw_group_free(&seats[static_cast<std::size_t>(rank)].group);
}

Place Meeting::find_place() {
  if (omp_get_num_threads == nullptr || omp_get_thread_num == nullptr) return {.rank = 0, .size = 1};
  return {.rank = omp_get_thread_num(), .size = omp_get_num_threads()};
}

bool Meeting::can_meet() { return GOMP_single_copy_start != nullptr && GOMP_single_copy_end != nullptr; }
bool Meeting::is_task() { return omp_in_explicit_task != nullptr && omp_in_explicit_task() != 0; }

// An address that is neither null, which would make the next thread the first one, nor a team.
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
  team->come.store(0, std::memory_order_relaxed);
  team->come.store(0, std::memory_order_relaxed);
  // Relaxed: the runtime's barrier publishes the team.
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

Team* Meeting::meet() {
  if (!loops_share_memory()) return static_cast<Team*>(GOMP_single_copy_start());
  void* memory = reinterpret_cast<void*>(sizeof *desk_);  // NOLINT(performance-no-int-to-ptr): asked for as a size
  GOMP_loop_start(0, 0, 0, kStaticSchedule, 0, nullptr, nullptr, nullptr, &memory);
  desk_ = static_cast<std::atomic<std::uintptr_t>*>(memory);
  std::uintptr_t shown = 0;
  if (desk_->compare_exchange_strong(shown, kFinding, std::memory_order_relaxed)) return nullptr;
  wait_while(*desk_, kFinding);
  shown = desk_->load(std::memory_order_acquire);
  GOMP_loop_end_nowait();
  return reinterpret_cast<Team*>(shown);  // NOLINT(performance-no-int-to-ptr)
}

void Meeting::present(Team* team) {
  if (desk_ == nullptr) return GOMP_single_copy_end(team);
  desk_->store(reinterpret_cast<std::uintptr_t>(team), std::memory_order_seq_cst);  // before checking for sleepers
  desk_->notify_all();
  GOMP_loop_end_nowait();
}

void Meeting::begin_gathering() {
  if (shared().file != nullptr) shared().file->gathering.fetch_add(1, std::memory_order_release);
}

// The file stays unchanged until this thread has agreed.
void Meeting::have_come() {
  if (place_.size == 1) return;
  OpenFile* const file = shared().file;
  if (team_->come.fetch_add(1, std::memory_order_seq_cst) + 1 < place_.size) return;
  if (file != nullptr) file->gathering.fetch_sub(1, std::memory_order_release);
  team_->come.notify_all();
}

void Meeting::await_all() {
  if (place_.size == 1) return;
  for (int now = team_->come.load(std::memory_order_acquire); now < place_.size;
       now = team_->come.load(std::memory_order_acquire)) {
    wait_while(team_->come, now);
  }
}

tw_status let_go_of_file(Team& team) {
  OpenFile* file = team.shared.file;
  if (file == nullptr) return TW_OK;
  if (team.shared.locked) file->busy.unlock();
  team.shared.file = nullptr;
  return release(file);
}

}  // namespace thalweg::omp_file
