// Thalweg's collectives on lists of extents.
#include <thalweg/open.hpp>
#include <utility>

#include <thalweg/thalweg.hpp>

#include "collective/ways.hpp"
#include "support/scratch.hpp"

namespace bench {

void must_tw(tw_status status, const char* what) {
  if (status != TW_OK) give_up(std::string(what) + ": " + tw_status_name(status) + ": " + tw_last_error());
}

Access whole_of(const Layout& layout, const Memory& memory) { return parts_of(layout, memory, 1).front(); }

std::vector<Access> parts_of(const Layout& layout, const Memory& memory, int n) {
  const std::vector<tw_extent> all = memory.extents(layout);
  const std::size_t each = all.size() / static_cast<std::size_t>(n);
  std::vector<Access> parts;
  std::int64_t skipped = 0;
  for (std::size_t first = 0; parts.size() < static_cast<std::size_t>(n); first += each) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    Access part;
    part.memory = static_cast<char*>(begin->address);
    part.skipped = skipped;
    part.extents.assign(begin, begin + static_cast<std::ptrdiff_t>(each));
    for (const tw_extent& extent : part.extents) part.bytes += extent.length;
    skipped += part.bytes;
    if (layout.view.get() == MPI_DATATYPE_NULL) part.skipped = begin->offset;
    parts.push_back(std::move(part));
  }
  return parts;
}

namespace {

class OurPending : public Pending {
 public:
  explicit OurPending(tw_request* request) : request_(request) {}
  bool test() override {
    int done = 0;
    must_tw(tw_request_test(&request_, &done, nullptr), "tw_request_test");
    return done != 0;
  }
  void wait() override { must_tw(tw_request_wait(&request_, nullptr), "tw_request_wait"); }

 private:
  tw_request* request_;
};

class OurFile : public SharedFile {
 public:
  OurFile(tw_group* group, const std::string& path, OurSettings settings) : settings_(settings) {
    const std::int32_t direct = settings.direct ? TW_DIRECT : 0;
    constexpr std::int32_t kFlags = TW_READ | TW_WRITE | TW_CREATE;
    thalweg::Options options;
    if (settings.hints != nullptr) options.hints(settings.hints);
    must_tw(tw_file_open(group, path.c_str(), kFlags | direct, options.get(), &file_), "tw_file_open");
  }
  ~OurFile() override { must_tw(tw_file_close(&file_), "tw_file_close"); }
  OurFile(const OurFile&) = delete;
  OurFile& operator=(const OurFile&) = delete;

  void write(const Access& access) override { move(access, TW_ACCESS_WRITE); }
  void read(const Access& access) override { move(access, TW_ACCESS_READ); }
  void sync() override { must_tw(tw_file_sync(file_), "tw_file_sync"); }
  std::unique_ptr<Pending> start_write(const Access& access) override { return start(access, TW_ACCESS_WRITE); }
  std::unique_ptr<Pending> start_read(const Access& access) override { return start(access, TW_ACCESS_READ); }

 private:
  tw_access described(const Access& access, tw_direction direction) const {
    tw_access out{};
    out.struct_size = sizeof out;
    out.direction = direction;
    out.placement = TW_AT_EXTENTS;
    out.progress = settings_.progress;
    out.extents = access.extents.data();
    out.n = static_cast<std::int64_t>(access.extents.size());
    return out;
  }
  void move(const Access& access, tw_direction direction) {
    if (settings_.form == Form::started_then_awaited) return start(access, direction)->wait();
    const tw_access what = described(access, direction);
    std::size_t moved = 0;
    must_tw(tw_file_access_all(file_, nullptr, &what, &moved), "tw_file_access_all");
    if (moved != static_cast<std::size_t>(access.bytes)) give_up("tw_file_access_all moved too little");
  }
  std::unique_ptr<Pending> start(const Access& access, tw_direction direction) {
    const tw_access what = described(access, direction);
    tw_request* request = nullptr;
    must_tw(tw_file_iaccess_all(file_, nullptr, &what, &request), "tw_file_iaccess_all");
    return std::make_unique<OurPending>(request);
  }

  OurSettings settings_;
  tw_file* file_ = nullptr;
};

}  // namespace

OpenFile ours(tw_group* group, OurSettings settings) {
  return [group, settings](const std::string& path, const Layout&) {
    return std::make_unique<OurFile>(group, path, settings);
  };
}

}  // namespace bench
