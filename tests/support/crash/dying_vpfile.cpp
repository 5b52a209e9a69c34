#include "sim/sim_group.hpp"
#include "support/campaign/random.hpp"
#include "support/crash/dying_file.hpp"
#include "support/crash/vp_crash_check.hpp"
#include "support/crash/vp_crash_program.hpp"
#include "vpfile/check/check_vpfile.hpp"

namespace thalweg::test {

namespace {

constexpr const char* kPath = "dying.vp";

VpCrashShape draw_shape(Random& random) {
  const std::vector<VpCrashShape> known = vp_crash_shapes();
  VpCrashShape shape = known[below(random, known.size())];
  shape.tasks = 1 + static_cast<std::int64_t>(below(random, 4));
  shape.tasks_per_process = 1 + static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(shape.tasks)));
  shape.shape = {1 + below(random, 6)};
  if (below(random, 3) == 0) shape.shape.push_back(1 + below(random, 3));
  shape.rounds = below(random, 3) != 0;
  shape.independent = below(random, 4) != 0;
  return shape;
}

class DyingVpfile final : public DyingFile {
 public:
  explicit DyingVpfile(std::uint64_t seed)
      : random_(random_of(seed, 2)), shape_(draw_shape(random_)), seed_(seed * 100), notes_(shape_.n_vps()) {}

  std::string describe() const override {
    return "a vpfile of " + std::to_string(shape_.n_vps()) + " VPs, " + std::to_string(shape_.tasks) + " tasks, " +
           std::to_string(shape_.tasks_per_process) + " in a process, hints of " + shape_.name +
           (shape_.rounds ? ", rounds" : "") + (shape_.independent ? ", independent blocks" : "");
  }
  void run_session(const std::shared_ptr<FaultBackend>& storage) override {
    const char* mode = !begun_ ? "w+" : below(random_, 2) == 0 ? "r+" : "a+";
    begun_ = true;
    ++seed_;
    SimWorld world({.tasks = shape_.tasks, .seed = seed_, .tasks_per_process = shape_.tasks_per_process});
    std::vector<Op<Status>> ops;
    for (TaskRank r = 0; r < shape_.tasks; ++r)
      ops.push_back(run_vp_session(world.group(r), shape_, {storage, kPath, mode, seed_}, notes_));
    closed_ = world.run(std::span(ops)).ok();
    for (Op<Status>& op : ops) closed_ &= op.value().ok();
    unsynced_close_ |= closed_ && mode[0] == 'w';  // the close of an append syncs
  }
  Status repair(const std::shared_ptr<Backend>& storage) override {
    CheckResult health;
    return repair_vpfile(*storage, kPath, {}, {}, health);
  }
  bool closed() const override { return closed_; }
  bool anything_flushed() const override { return anything_durable(aftermath(nullptr, Death::process)); }

  std::string look(const std::shared_ptr<Backend>& storage) override {
    std::vector<std::uint64_t> sizes;
    const std::string wrong = check_vp_content(aftermath(storage, Death::process), &sizes);
    if (!wrong.empty()) return wrong;
    CheckResult health;
    const Status whole = verify_vpfile(*storage, kPath, {}, health);
    for (std::size_t vp = 0; vp < sizes.size(); ++vp) notes_.all[vp].settle(sizes[vp]);
    return whole.ok() ? "" : "is not whole: " + whole.message();
  }
  void all_reached_storage() override {
    for (History& history : notes_.all) history.synced = history.flushed;
    unsynced_close_ = false;
  }
  std::string check_image(const std::shared_ptr<Backend>& storage, bool had_closed) override {
    if (!begun_) return "";
    VpAftermath at = aftermath(storage, Death::machine);
    at.had_closed = had_closed;
    at.unsynced_close = unsynced_close_;
    return check_vp_aftermath(std::move(at));
  }

 private:
  VpAftermath aftermath(const std::shared_ptr<Backend>& storage, Death death) const {
    VpAftermath at;
    at.storage = storage;
    at.path = kPath;
    at.histories = notes_.all;
    at.death = death;
    at.was_closed = closed_;
    at.lattice = notes_.lattice;
    // Writes to the only VP use mode NB and may be in rounds.
    if (shape_.independent && (shape_.rounds || shape_.n_vps() == 1)) at.zeros_below = notes_.lattice;
    return at;
  }

  Random random_;
  const VpCrashShape shape_;
  std::uint64_t seed_;
  VpHistories notes_;
  bool begun_ = false;
  bool closed_ = false;
  bool unsynced_close_ = false;
};

}  // namespace

std::unique_ptr<DyingFile> make_dying_vpfile(std::uint64_t seed) { return std::make_unique<DyingVpfile>(seed); }

}  // namespace thalweg::test
