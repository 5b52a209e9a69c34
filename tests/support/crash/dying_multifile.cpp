#include "multifile/check/check_multifile.hpp"
#include "support/campaign/random.hpp"
#include "support/crash/crash_check.hpp"
#include "support/crash/crash_program.hpp"
#include "support/crash/dying_file.hpp"

namespace thalweg::test {

namespace {

constexpr const char* kPath = "dying.tw";

template <class T>
T one_of(Random& random, std::initializer_list<T> values) {
  return values.begin()[below(random, values.size())];
}

ProgramShape draw_shape(Random& random) {
  ProgramShape shape;
  shape.name = "drawn";
  shape.tasks = 1 + static_cast<std::int64_t>(below(random, 4));
  shape.tasks_per_process = 1 + static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(shape.tasks)));
  shape.n_logical = shape.tasks + static_cast<std::int64_t>(below(random, one_of<std::uint64_t>(random, {1, 4, 40})));
  shape.steps = 3 + static_cast<int>(below(random, 14));
  shape.adds = one_of(random, {0, 0, 3, 12});
  shape.in_background = below(random, 3) == 0;
  MultifileOptions& options = shape.options = small_options();
  options.physical_files = static_cast<std::uint32_t>(one_of(random, {1, 1, 2, 3}));
  options.first_bytes = one_of<std::uint64_t>(random, {1, 3000, 20000});
  options.alignment_bytes = one_of<std::uint32_t>(random, {512, 512, 4096});
  options.chunk_bytes = one_of<std::uint64_t>(random, {1500, 6000, 20000});
  options.buffer_bytes = one_of<std::uint64_t>(random, {0, 700, 1500, 5000});
  options.added_bytes = one_of<std::uint64_t>(random, {1, 200, 1000});
  options.codec = one_of(random, {format::Codec::none, format::Codec::none, format::Codec::lz4, format::Codec::zstd});
  options.checksum = one_of(random, {format::Checksum::none, format::Checksum::crc32c});
  options.sync_on_close = below(random, 3) == 0;
  if (below(random, 3) == 0) options.storage_hints = small_direct_options().storage_hints;
  const std::uint64_t layout = below(random, 4);
  if (layout == 1) options.physical_files = kAuto;  // later ones are made when they are needed
  if (layout == 0)
    shape.mapping = [](std::int64_t rank, std::int64_t, std::int32_t m) {
      return static_cast<std::int32_t>(rank * 5 % m);
    };
  return shape;
}

class DyingMultifile final : public DyingFile {
 public:
  explicit DyingMultifile(std::uint64_t seed) : random_(random_of(seed, 1)), shape_(draw_shape(random_)), seed_(seed) {}

  std::string describe() const override {
    const MultifileOptions& options = shape_.options;
    const auto number = [](auto value) { return std::to_string(value); };
    return "a multifile of " + number(shape_.n_logical) + " logical files, " + number(shape_.tasks) + " tasks, " +
           number(shape_.tasks_per_process) + " in a process, " + number(shape_.steps) + " steps, " +
           number(shape_.adds) + " adds" + (shape_.in_background ? ", in the background" : "") + "; physical files " +
           number(options.physical_files) + " (first bytes " + number(options.first_bytes) + "), chunks " +
           number(options.chunk_bytes) + ", buffer " + number(options.buffer_bytes) + ", codec " +
           number(static_cast<int>(options.codec)) + ", checksum " + number(static_cast<int>(options.checksum)) +
           (options.sync_on_close ? ", synced on close" : "") + (options.storage_hints.empty() ? "" : ", direct") +
           (shape_.mapping ? ", mapped" : "");
  }
  void run_session(const std::shared_ptr<FaultBackend>& storage) override {
    const bool first = sessions_++ == 0;
    if (first) program_ = std::make_unique<CrashProgram>(shape_, storage, kPath, seed_);
    const bool abandons = below(random_, 6) == 0;
    program_->run_session(first ? MultifileMode::create : MultifileMode::append,
                          abandons ? CrashProgram::End::abandon : CrashProgram::End::close);
  }
  Status repair(const std::shared_ptr<Backend>& storage) override {
    CheckResult health;
    return repair_multifile(storage, kPath, {}, health);
  }
  bool closed() const override { return program_->is_closed(); }
  bool anything_flushed() const override { return anything_durable(aftermath(nullptr, Death::process)); }

  std::string look(const std::shared_ptr<Backend>& storage) override {
    std::vector<std::uint64_t> sizes;
    const std::string wrong =
        check_content(aftermath(storage, Death::process), false, Demand::durable_is_there, &sizes);
    if (!wrong.empty()) return wrong;
    CheckResult health;
    const Status whole = verify_multifile(storage, kPath, {}, health);
    program_->settle(sizes);
    return whole.ok() ? "" : "is not whole: " + whole.message();
  }
  void all_reached_storage() override { program_->all_reached_storage(); }

  std::string check_image(const std::shared_ptr<Backend>& storage, bool had_closed) override {
    if (program_ == nullptr) return "";
    Aftermath at = aftermath(storage, Death::machine);
    at.had_closed = had_closed;
    return check_aftermath(std::move(at));
  }

 private:
  Aftermath aftermath(const std::shared_ptr<Backend>& storage, Death death) const {
    Aftermath at;
    at.storage = storage;
    at.path = kPath;
    at.histories = program_->histories();
    at.death = death;
    at.was_closed = program_->is_closed();
    at.closes_at_once = shape_.options.physical_files == 1 && sessions_ == 1;
    at.may_be_zeros =
        shape_.options.checksum == format::Checksum::none && !shape_.options.sync_on_close && !program_->was_synced();
    return at;
  }

  Random random_;
  const ProgramShape shape_;
  const std::uint64_t seed_;
  std::uint64_t sessions_ = 0;
  std::unique_ptr<CrashProgram> program_;
};

}  // namespace

std::unique_ptr<DyingFile> make_dying_multifile(std::uint64_t seed) { return std::make_unique<DyingMultifile>(seed); }

}  // namespace thalweg::test
