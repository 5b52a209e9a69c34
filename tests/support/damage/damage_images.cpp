#include "support/damage/damage_images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "multifile/check/check_multifile.hpp"
#include "multifile/format/layout.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/groups/run_on.hpp"
#include "support/models/multifile_model.hpp"

namespace thalweg::test {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::array<std::byte, kPage> kZeros{};

struct Recipe {
  std::string name;
  std::int64_t n_logical = 2;
  int sessions = 1;
  bool closed = true;      // the last session closed
  std::int64_t tasks = 1;  // each of them a process
  std::uint64_t adds = 0;  // logical files that a task adds in a session; the first one is a part of an array
  MultifileOptions options;
  MappingFunction mapping;
};

std::vector<std::byte> content_of(std::uint64_t rank, const History& history) {
  ModelFile content;
  for (std::size_t i = 0; i < history.writes.size(); ++i)
    content.write(history.writes[i].offset, written_bytes(rank, history.writes[i], i + 1));
  return content.bytes;
}

// The tasks that write an image; they leave without a close where the recipe says so.
class Cook {
 public:
  explicit Cook(const Recipe& recipe) : recipe_(recipe), storage_(make_memory_backend()) {
    image_.name = recipe.name;
    image_.closed = recipe.closed;
    image_.checked = recipe.options.checksum != format::Checksum::none;
    image_.n_numbered = static_cast<std::uint64_t>(recipe.n_logical);
    image_.histories.resize(first_added(recipe.sessions, 0));
  }

  Image cook() {
    for (int i = 0; i < recipe_.sessions; ++i)
      run_on_sim(SimOptions{.tasks = recipe_.tasks}, [&](Group& group) { return session(group, i); });
    for (std::uint64_t rank = 0; rank < image_.histories.size(); ++rank)
      image_.contents.push_back(content_of(rank, image_.histories[rank]));
    take_files();
    tell_regions();
    return std::move(image_);
  }

 private:
  std::int64_t first_of(std::int64_t task) const { return recipe_.n_logical * task / recipe_.tasks; }
  std::uint64_t first_added(int session, std::int64_t task) const {
    return image_.n_numbered + static_cast<std::uint64_t>(session * recipe_.tasks + task) * recipe_.adds;
  }

  Op<Status> session(Group& group, int number) {
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.access = number == 0 ? MultifileMode::create : MultifileMode::append;
    request.options = recipe_.options;
    if (number == 0) request.mapping = recipe_.mapping;
    const std::int64_t first = first_of(group.rank()), end = first_of(group.rank() + 1);
    request.serving = {Serving::Kind::range, recipe_.n_logical, first, end - first, {}};
    auto file = co_await open_multifile(group, std::move(request));
    if (!file.has_value()) co_return file.error();
    WriteHandle& handle = *(*file)->writing;
    write_all(handle, number, static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end) - 1);
    add_all(handle, first_added(number, group.rank()));
    if (number + 1 == recipe_.sessions && !recipe_.closed) co_return Status{};
    co_return co_await close_multifile(group, std::move(file).value());
  }

  // Fills and flushes a chunk twice, overwrites, leaves a gap, appends records.
  void write_all(WriteHandle& handle, int number, std::uint64_t first, std::uint64_t last) {
    const std::uint64_t end = image_.histories[first].size();
    write(handle, first, end, 3000);
    EXPECT_TRUE(handle.flush().ok());
    write(handle, first, end + 3000, 2100);
    write(handle, last, image_.histories[last].size() + 50, 300);
    EXPECT_TRUE(handle.sync().ok());
    write(handle, first, end + 1000, 200);
    write(handle, last, image_.histories[last].size(), 150);
    if (recipe_.closed) {
      EXPECT_TRUE(handle.set_name(*handle.current(), "last", 0100644).ok());
      handle.attributes()["key" + std::to_string(number)] = "value";
    }
    EXPECT_TRUE(handle.flush().ok());
  }

  // Some for a pack, some as large as a chunk; returns to the first one.
  void add_all(WriteHandle& handle, std::uint64_t first) {
    std::uint64_t number_of_first = 0;
    for (std::uint64_t rank = first; rank < first + recipe_.adds; ++rank) {
      History& history = image_.histories[rank];
      history.name = rank == first ? format::name_of_part("array", rank) : "added/" + std::to_string(rank);
      ASSERT_TRUE(handle.add(history.name, 0100600).ok());
      if (rank == first) number_of_first = handle.current()->rank();
      write_current(handle, rank, 100 + (rank - first) * 1500);
    }
    if (recipe_.adds == 0) return;
    ASSERT_TRUE(handle.seek_to(number_of_first, -1).ok());
    write_current(handle, first, 70);
    EXPECT_TRUE(handle.flush().ok());
  }

  void write(WriteHandle& handle, std::uint64_t rank, std::uint64_t offset, std::uint64_t bytes) {
    ASSERT_TRUE(handle.seek_to(rank, static_cast<std::int64_t>(offset)).ok());
    write_current(handle, rank, bytes);
  }

  // Writes to the current logical file, which will have this rank.
  void write_current(WriteHandle& handle, std::uint64_t rank, std::uint64_t bytes) {
    History& history = image_.histories[rank];
    const std::uint64_t version = history.begin(handle.current()->position(), bytes);
    ASSERT_TRUE(handle.write(*handle.current(), written_bytes(rank, history.writes.back(), version)).ok());
    history.flushed = history.writes.size();
  }

  void take_files() {
    for (std::uint32_t k = 0; storage_->exists(format::physical_name(kImagePath, k)).value(); ++k) {
      const std::string path = format::physical_name(kImagePath, k);
      const auto file = storage_->open(path, OpenMode::read).value();
      std::vector<std::byte> bytes(file->size().value());
      EXPECT_EQ(file->read(0, bytes).value(), bytes.size());
      image_.files[path] = std::move(bytes);
    }
  }

  void tell_regions() {
    CheckResult health;
    EXPECT_TRUE(repair_multifile(storage_, kImagePath, {}, health).ok());
    ReadSet set(storage_, kImagePath, ReadSet::Unclosed::refuse);
    ASSERT_TRUE(set.open().ok());
    const auto keep = [this](const Region& region) {
      image_.regions.push_back(region);
      return true;
    };
    EXPECT_TRUE(walk_regions(set, keep).ok());
  }

  const Recipe& recipe_;
  const std::shared_ptr<Backend> storage_;
  Image image_;
};

MultifileOptions image_options() {
  MultifileOptions options;
  options.physical_files = 1;
  options.alignment_bytes = 512;
  options.granule_bytes = 4096;
  options.chunk_bytes = 4000;
  options.buffer_bytes = 500;
  return options;
}

std::vector<Recipe> all_recipes() {
  std::vector<Recipe> recipes;
  const auto add = [&](const char* name) -> Recipe& {
    recipes.push_back({name, 2, 1, true, 1, 0, image_options(), {}});
    return recipes.back();
  };
  add("Closed");
  add("Appended").sessions = 2;
  add("Zstd").options.codec = format::Codec::zstd;
  add("Unchecked").options.checksum = format::Checksum::none;
  Recipe& table = add("Table");
  table.n_logical = 4;
  table.options.physical_files = 2;
  table.mapping = [](std::int64_t rank, std::int64_t, std::int32_t m) { return static_cast<std::int32_t>(rank % m); };
  Recipe& added = add("Added");
  added.tasks = 2;
  added.adds = 3;
  added.options.physical_files = 2;
  const auto add_later = [&](const char* name) -> Recipe& {
    Recipe& later = add(name);
    later.tasks = 2;
    later.options.physical_files = kAuto;
    later.options.first_bytes = 1;
    return later;
  };
  add_later("Later");
  Recipe& unclosed_added = add_later("UnclosedAdded");
  unclosed_added.closed = false;
  unclosed_added.adds = 2;
  Recipe& appended_added = add("AppendedAdded");
  appended_added.sessions = 2;
  appended_added.adds = 2;
  add("Unclosed").closed = false;
  Recipe& append = add("UnclosedAppend");
  append.sessions = 2;
  append.closed = false;
  return recipes;
}

std::vector<Image> cook_all() {
  std::vector<Image> images;
  for (const Recipe& recipe : all_recipes()) images.push_back(Cook(recipe).cook());
  return images;
}

}  // namespace

const std::vector<Image>& sound_images() {
  static const std::vector<Image> images = cook_all();
  return images;
}

std::vector<std::string> image_names() {
  std::vector<std::string> names;
  for (const Recipe& recipe : all_recipes()) names.push_back(recipe.name);
  return names;
}

const Image& sound_image(const std::string& name) {
  const auto& all = sound_images();
  return *std::find_if(all.begin(), all.end(), [&](const Image& image) { return image.name == name; });
}

std::shared_ptr<Backend> storage_of(const std::map<std::string, std::vector<std::byte>>& files) {
  auto storage = make_memory_backend();
  for (const auto& [path, bytes] : files) {
    const auto file = storage->open(path, OpenMode::create).value();
    for (std::size_t at = 0; at < bytes.size(); at += kPage) {  // pages of zeros become holes: faster
      const auto page = std::span(bytes).subspan(at, std::min(kPage, bytes.size() - at));
      if (page.size() == kPage && std::memcmp(page.data(), kZeros.data(), kPage) == 0) continue;
      EXPECT_TRUE(file->write(at, page).ok());
    }
    EXPECT_TRUE(file->truncate(bytes.size()).ok());
  }
  return storage;
}

}  // namespace thalweg::test
