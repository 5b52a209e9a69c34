// Draws a run: v of the last step, lit from the upper left, and below it a film of all checkpoints with the strips of
// the tasks that wrote them. A red bar separates the checkpoints of one file from those of the next: there the run was
// killed, and continued with other tasks.
//
//     grayscott_picture OUT.png CHECKPOINT.tw [CHECKPOINT.tw ...]
#include <png.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "assemble.hpp"

namespace {

using grayscott::Fields;

constexpr std::int64_t kWidth = 1024, kGap = 8;

struct Colour {
  double red, green, blue;
};
constexpr Colour kGaps{34, 44, 68}, kBorder{255, 250, 236}, kKilled{226, 62, 55};

class Canvas {
 public:
  Canvas(std::int64_t width, std::int64_t height, Colour background) : width_(width), height_(height) {
    for (std::int64_t i = 0; i < width * height; ++i) put(background);
  }
  void set(std::int64_t x, std::int64_t y, Colour colour) {
    const auto at = static_cast<std::size_t>(3 * (y * width_ + x));
    bytes_[at] = byte(colour.red), bytes_[at + 1] = byte(colour.green), bytes_[at + 2] = byte(colour.blue);
  }
  void save(const std::string& path) const {
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    if (png_image_write_to_file(&image, path.c_str(), 0, bytes_.data(), 0, nullptr) == 0) {
      throw std::runtime_error("cannot write '" + path + "': " + image.message);
    }
  }

 private:
  static std::uint8_t byte(double part) { return static_cast<std::uint8_t>(std::clamp(part, 0.0, 255.0) + 0.5); }
  void put(Colour colour) {
    for (const double part : {colour.red, colour.green, colour.blue}) bytes_.push_back(byte(part));
  }

  std::int64_t width_, height_;
  std::vector<std::uint8_t> bytes_;  // red, green, blue; row after row
};

// From deep water over shallows and sand to foam; `t` from 0 to 1.
Colour river(double t) {
  constexpr std::array<Colour, 7> kStops{
      {{7, 16, 38}, {11, 48, 88}, {18, 99, 138}, {52, 160, 164}, {153, 217, 188}, {246, 229, 180}, {255, 250, 236}}};
  const double place = std::clamp(t, 0.0, 1.0) * (kStops.size() - 1);
  const auto i = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double f = place - static_cast<double>(i);
  const Colour &a = kStops[i], &b = kStops[i + 1];
  return {a.red + f * (b.red - a.red), a.green + f * (b.green - a.green), a.blue + f * (b.blue - a.blue)};
}

// v of a checkpoint at any place of the periodic square, in cells; between cell middles it is interpolated.
class Relief {
 public:
  explicit Relief(const Fields& fields) : fields_(fields), size_(fields.box().nx) {}
  std::int64_t size() const { return size_; }

  double at(double x, double y) const {
    const double left = std::floor(x), top = std::floor(y), fx = x - left, fy = y - top;
    const auto column = static_cast<std::int64_t>(left), row = static_cast<std::int64_t>(top);
    const double upper = (1 - fx) * cell(column, row) + fx * cell(column + 1, row);
    const double lower = (1 - fx) * cell(column, row + 1) + fx * cell(column + 1, row + 1);
    return (1 - fy) * upper + fy * lower;
  }

  // The colour of a place: by the height of v there, lit by its slope.
  Colour colour(double x, double y) const {
    const double slope = (at(x + 1, y) - at(x - 1, y)) + (at(x, y + 1) - at(x, y - 1));
    const double light = 1.0 + 1.6 * slope;
    const Colour base = river(at(x, y) / 0.40);
    return {base.red * light, base.green * light, base.blue * light};
  }

 private:
  double cell(std::int64_t x, std::int64_t y) const { return *fields_.v((x + size_) % size_, (y + size_) % size_); }

  const Fields& fields_;
  std::int64_t size_;
};

struct Square {
  std::int64_t left, top, width;  // pixels
};

// Every pixel is the mean of four points, for a smooth small square.
void draw(Canvas& canvas, const Relief& relief, const Square& where) {
  const double cells_per_pixel = static_cast<double>(relief.size()) / static_cast<double>(where.width);
  for (std::int64_t y = 0; y < where.width; ++y) {
    for (std::int64_t x = 0; x < where.width; ++x) {
      Colour mean{};
      for (const double dy : {0.25, 0.75}) {
        for (const double dx : {0.25, 0.75}) {
          const Colour part = relief.colour((static_cast<double>(x) + dx) * cells_per_pixel - 0.5,
                                            (static_cast<double>(y) + dy) * cells_per_pixel - 0.5);
          mean = {mean.red + part.red / 4, mean.green + part.green / 4, mean.blue + part.blue / 4};
        }
      }
      canvas.set(where.left + x, where.top + y, mean);
    }
  }
}

struct Frame {
  Fields fields;
  std::vector<grayscott::Box> boxes;  // of the tasks
  bool first_of_a_later_file;
};

// All whole checkpoints of the files, in order.
std::vector<Frame> read_frames(const std::vector<std::string>& paths) {
  std::vector<Frame> frames;
  for (const std::string& path : paths) {
    thalweg::Multifile file(path, TW_READ);
    std::vector<grayscott::Box> boxes;
    for (std::int64_t rank = 0; rank < file.summarize().n_logical; ++rank) {
      for (const grayscott::Record& record : grayscott::whole_records(file, rank)) {
        boxes.resize(static_cast<std::size_t>(rank) + 1, record.header.box);
      }
    }
    bool first = path != paths.front();
    for (const std::int64_t step : grayscott::whole_steps(file)) {
      frames.push_back({grayscott::assemble(file, step), boxes, first});
      first = false;
    }
    file.close();
  }
  if (frames.empty()) throw std::runtime_error("no checkpoint in these files is whole");
  return frames;
}

// The first column and row of each task's strip.
void draw_borders(Canvas& canvas, const Frame& frame, const Square& where) {
  const std::int64_t cells = frame.fields.box().nx;
  for (const grayscott::Box& box : frame.boxes) {
    const std::int64_t x0 = box.x * where.width / cells, x1 = (box.x + box.nx) * where.width / cells;
    const std::int64_t y0 = box.y * where.width / cells, y1 = (box.y + box.ny) * where.width / cells;
    for (std::int64_t x = x0; y0 > 0 && x < x1; ++x) canvas.set(where.left + x, where.top + y0, kBorder);
    for (std::int64_t y = y0; x0 > 0 && y < y1; ++y) canvas.set(where.left + x0, where.top + y, kBorder);
  }
}

void draw_run(const std::vector<Frame>& frames, const std::string& path) {
  const auto n = static_cast<std::int64_t>(frames.size());
  const std::int64_t small = (kWidth - (n - 1) * kGap) / n;
  Canvas canvas(kWidth, kWidth + kGap + small, kGaps);
  draw(canvas, Relief(frames.back().fields), {0, 0, kWidth});
  for (std::int64_t i = 0; i < n; ++i) {
    const Frame& frame = frames[static_cast<std::size_t>(i)];
    const Square where{i * (small + kGap), kWidth + kGap, small};
    draw(canvas, Relief(frame.fields), where);
    draw_borders(canvas, frame, where);
    for (std::int64_t y = where.top; frame.first_of_a_later_file && y < where.top + small; ++y) {
      for (std::int64_t x = where.left - kGap + 2; x < where.left - 2; ++x) canvas.set(x, y, kKilled);
    }
  }
  canvas.save(path);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: grayscott_picture OUT.png CHECKPOINT.tw [CHECKPOINT.tw ...]\n");
    return 2;
  }
  draw_run(read_frames({argv + 2, argv + argc}), argv[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "grayscott_picture: %s\n", error.what());
  return 1;
}
