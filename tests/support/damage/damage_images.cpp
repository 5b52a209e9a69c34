#include "support/damage/damage_images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "group/groups.hpp"
#include "multifile/check/check_multifile.hpp"
#include "multifile/format/layout.hpp"
#include "multifile/multifile.hpp"
#include "sim/memory_backend.hpp"
#include "support/models/multifile_model.hpp"

namespace thalweg::test {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::array<std::byte, kPage> kZeros{};

struct Recipe {
  std::string name;
  std::int64_t n_logical = 2;
  int sessions = 1;
  bool closed = true;  // the last session closed
  MultifileOptions options;
  MappingFunction mapping;
};

std::vector<std::byte> content_of(std::uint64_t rank, const History& history) {
  ModelFile content;
  for (std::size_t i = 0; i < history.writes.size(); ++i)
    content.write(history.writes[i].offset, written_bytes(rank, history.writes[i], i + 1));
  return content.bytes;
}

// One task that writes an image; it leaves without a close where the recipe says so.
class Cook {
 public:
  explicit Cook(const Recipe& recipe) : recipe_(recipe), storage_(make_memory_backend()) {
    image_.name = recipe.name;
    image_.closed = recipe.closed;
    image_.checked = recipe.options.checksum != format::Checksum::none;
    image_.histories.resize(static_cast<std::size_t>(recipe.n_logical));
  }

  Image cook() {
    for (int i = 0; i < recipe_.sessions; ++i) session(i);
    for (std::uint64_t rank = 0; rank < image_.histories.size(); ++rank)
      image_.contents.push_back(content_of(rank, image_.histories[rank]));
    take_files();
    tell_regions();
    return std::move(image_);
  }

 private:
  void session(int number) {
    const auto group = make_self_group();
    OpenRequest request;
    request.backend = storage_;
    request.path = kImagePath;
    request.access = number == 0 ? MultifileMode::create : MultifileMode::append;
    request.options = recipe_.options;
    if (number == 0) request.mapping = recipe_.mapping;
    request.serving = {Serving::Kind::range, recipe_.n_logical, 0, recipe_.n_logical, {}};
    auto file = run(open_multifile(*group, std::move(request)));
    ASSERT_TRUE(file.has_value()) << file.error().message();
    write_all(*(*file)->writing, number);
    if (number + 1 < recipe_.sessions || recipe_.closed) {
      EXPECT_TRUE(run(close_multifile(*group, std::move(file).value())).ok());
    }
  }

  // Fills and flushes a chunk twice, overwrites, leaves a gap, appends records.
  void write_all(WriteHandle& handle, int number) {
    const auto last = static_cast<std::uint64_t>(recipe_.n_logical) - 1;
    const std::uint64_t end = image_.histories[0].size();
    write(handle, 0, end, 3000);
    EXPECT_TRUE(handle.flush().ok());
    write(handle, 0, end + 3000, 2100);
    write(handle, last, image_.histories[last].size() + 50, 300);
    EXPECT_TRUE(handle.sync().ok());
    write(handle, 0, end + 1000, 200);
    write(handle, last, image_.histories[last].size(), 150);
    if (recipe_.closed) {
      EXPECT_TRUE(handle.set_name(*handle.current(), "last", 0100644).ok());
      handle.attributes()["key" + std::to_string(number)] = "value";
    }
    EXPECT_TRUE(handle.flush().ok());
  }

  void write(WriteHandle& handle, std::uint64_t rank, std::uint64_t offset, std::uint64_t bytes) {
    History& history = image_.histories[rank];
    const std::uint64_t version = history.begin(offset, bytes);
    const auto data = written_bytes(rank, history.writes.back(), version);
    ASSERT_TRUE(handle.seek_to(rank, static_cast<std::int64_t>(offset)).ok());
    ASSERT_TRUE(handle.write(*handle.current(), data).ok());
    history.flushed = history.writes.size();
  }

  void take_files() {
    for (std::uint32_t k = 0; k < std::max(1u, recipe_.options.physical_files); ++k) {
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

std::vector<Image> cook_all() {
  std::vector<Recipe> recipes;
  const auto add = [&](const char* name) -> Recipe& {
    recipes.push_back({name, 2, 1, true, image_options(), {}});
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
  add("Unclosed").closed = false;
  Recipe& append = add("UnclosedAppend");
  append.sessions = 2;
  append.closed = false;
  std::vector<Image> images;
  for (const Recipe& recipe : recipes) images.push_back(Cook(recipe).cook());
  return images;
}

}  // namespace

const std::vector<Image>& sound_images() {
  static const std::vector<Image> images = cook_all();
  return images;
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
