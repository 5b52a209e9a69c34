#include "plain_reader.hpp"

#include <cstring>

#include "posix_file.hpp"

namespace probe {

namespace {

// Checks that every element came once. Missing and repeated places can leave the count right, but hardly also the sums
// of the places and of their squares.
class Tally {
 public:
  void add(std::int64_t first, std::size_t bytes) {
    const auto begin = static_cast<std::uint64_t>(first);
    const std::uint64_t end = begin + bytes / kElement;
    elements_ += end - begin;
    places_ += triangle(end) - triangle(begin);
    squares_ += squares_below(end) - squares_below(begin);
  }
  void check(const Array& array) const {
    Tally right;
    right.add(0, static_cast<std::size_t>(array.bytes()));
    if (elements_ != right.elements_)
      throw Failed("a plain reader found " + std::to_string(elements_) + " elements, not " +
                   std::to_string(right.elements_));
    if (places_ != right.places_ || squares_ != right.squares_)
      throw Failed("a plain reader found some elements twice and missed others");
  }

 private:
  // Sums of the places below n, and of their squares; modulo 2^64, which preserves differences.
  static std::uint64_t triangle(std::uint64_t n) { return n % 2 == 0 ? n / 2 * (n - 1) : (n - 1) / 2 * n; }
  static std::uint64_t squares_below(std::uint64_t n) {
    if (n == 0) return 0;
    // (n - 1) n (2n - 1) / 6, divided before the product can overflow.
    std::uint64_t a = n - 1;
    std::uint64_t b = n;
    std::uint64_t c = 2 * n - 1;
    (a % 2 == 0 ? a : b) /= 2;
    (a % 3 == 0 ? a : b % 3 == 0 ? b : c) /= 3;
    return a * b * c;
  }

  std::uint64_t elements_ = 0, places_ = 0, squares_ = 0;
};

// Joins consecutive stretches before writing them.
class Gathered {
 public:
  explicit Gathered(PosixFile& file) : file_(file) {}
  void add(std::int64_t first, std::span<const std::byte> bytes) {
    const std::int64_t offset = first * kElement;
    if (offset != begin_ + static_cast<std::int64_t>(used_) || used_ + bytes.size() > kRoom) {
      flush();
      begin_ = offset;
    }
    if (bytes.size() >= kRoom) {
      file_.write(bytes, offset);
      begin_ = offset + static_cast<std::int64_t>(bytes.size());
      return;
    }
    std::memcpy(memory_.span().data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void flush() {
    file_.write(memory_.span().first(used_), begin_);
    begin_ += static_cast<std::int64_t>(used_);
    used_ = 0;
  }

 private:
  static constexpr std::size_t kRoom = std::size_t{1} << 20;
  PosixFile& file_;
  Buffer memory_{kRoom};
  std::int64_t begin_ = 0;
  std::size_t used_ = 0;
};

}  // namespace

void read_plainly(Method& method, const Cell& cell, const std::string& folder, std::optional<std::uint32_t> seed) {
  Tally tally;
  method.read_serial(cell.array, cell.grid, folder, [&](std::int64_t first, std::span<const std::byte> bytes) {
    if (seed) check_stretch(first, *seed, bytes);
    tally.add(first, bytes.size());
  });
  tally.check(cell.array);
}

void merge_into(const std::string& path, Method& method, const Cell& cell, const std::string& folder, bool sync) {
  PosixFile file(path, PosixFile::Use::create, false);
  Gathered gathered(file);
  method.read_serial(cell.array, cell.grid, folder,
                     [&](std::int64_t first, std::span<const std::byte> bytes) { gathered.add(first, bytes); });
  gathered.flush();
  if (sync) file.sync();
  file.close();
}

void check_merged(const std::string& path, const Array& array, std::uint32_t seed) {
  see_file(path, array.bytes(),
           [&](std::int64_t first, std::span<const std::byte> bytes) { check_stretch(first, seed, bytes); });
}

}  // namespace probe
