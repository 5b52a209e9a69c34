#include "group/basic_group.hpp"

#include <cstring>
#include <span>

#include "base/wire.hpp"
#include "group/agree.hpp"
#include "group/memory.hpp"

namespace thalweg {

Op<Result<Gathered>> BasicGroup::allgather(ByteView data) {
  TW_CO_ASSIGN_OR_RETURN(const auto gathered, co_await gather(data, 0));
  TW_CO_ASSIGN_OR_RETURN(const auto begins, co_await broadcast(std::as_bytes(std::span(gathered.begin)), 0));
  Gathered all;
  const bool good = try_resize(all.begin, begins.size() / sizeof all.begin[0]);
  TW_CO_RETURN_IF_ERROR(co_await agree(*this, good ? Status{} : no_memory_for("allgather")));
  std::memcpy(all.begin.data(), begins.data(), begins.size());
  TW_CO_ASSIGN_OR_RETURN(all.data, co_await broadcast(gathered.data, 0));
  co_return all;
}

Op<Result<std::shared_ptr<void>>> BasicGroup::share_in_process(std::function<std::shared_ptr<void>()> make) {
  const Place here = place();
  const bool leads = here.process_leader == rank();
  std::shared_ptr<void> object;
  if (leads) object = make();
  // Every task has a process of its own. `place` is equal on all tasks, so all of them return here.
  if (here.processes == size()) co_return object;
  std::vector<std::int64_t> mine(1, reinterpret_cast<std::intptr_t>(&object));
  TW_CO_ASSIGN_OR_RETURN(const auto all, co_await allgather(view_of(mine)));
  const auto address = numbers_of(all.part(static_cast<std::size_t>(here.process_leader)));
  if (!leads) object = *reinterpret_cast<const std::shared_ptr<void>*>(address[0]);
  TW_CO_RETURN_IF_ERROR(co_await barrier());  // the leader's object must live until all have copied it
  co_return object;
}

}  // namespace thalweg
