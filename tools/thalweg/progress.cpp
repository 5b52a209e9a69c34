// The bar: label, blocks, per cent, amount, amount per second. Redrawn in place, erased at the end.
#include "progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "common.hpp"
#include "text.hpp"

namespace tool {
namespace {

using std::chrono::steady_clock;

bool g_bar = false;  // the terminal's last line shows a bar
std::mutex g_terminal;

struct Work {
  const char* label = nullptr;  // null: no work noted
  int64_t done = 0, total = 0;
  const char* thing = nullptr;
};
Work g_work;

void to_terminal(const std::string& text) { write_all(STDERR_FILENO, text.data(), text.size()); }

bool capable_terminal() {
  const char* kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

int terminal_columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20 ? size.ws_col : 80;
}

void erase_bar() {
  if (g_bar) to_terminal("\r\x1b[K");
  g_bar = false;
}

}  // namespace

void say(std::string_view text) {
  const std::lock_guard lock(g_terminal);
  erase_bar();
  to_terminal(fmt::format("thalweg: {}\n", printable(text, false)));
}

void note_work(const char* label, int64_t done, int64_t total, const char* thing) {
  g_work = {label, done, total, thing};
}

std::string work_text() {
  if (g_work.label == nullptr) return {};
  const auto amount = [](int64_t n) { return g_work.thing == nullptr ? short_size(n) : std::to_string(n); };
  const std::string unit = g_work.thing == nullptr ? std::string() : fmt::format(" {}", g_work.thing);
  if (g_work.total <= 0) return fmt::format("{}: {}{} done", g_work.label, amount(g_work.done), unit);
  return fmt::format("{}: {} of {}{} done", g_work.label, amount(g_work.done), amount(g_work.total), unit);
}

Progress::Progress(const char* label, bool quiet, const char* thing)
    : label_(label),
      thing_(thing),
      shown_(!quiet && capable_terminal()),
      started_(steady_clock::now()),
      drawn_(started_) {
  note_work(label_, 0, 0, thing_);
}

Progress::~Progress() { erase_bar(); }

void Progress::update(int64_t done, int64_t total) {
  note_work(label_, done, total, thing_);
  stop_if_interrupted();
  show(done, total);
}

void Progress::add(int64_t n, int64_t total) {
  for (int64_t was = done_; !done_.compare_exchange_weak(was, sum_of(was, n));) {
  }
  if (std::this_thread::get_id() == owner_) return update(done_, total);
  stop_if_interrupted();
}

void Progress::show(int64_t done, int64_t total) {
  const auto now = steady_clock::now();
  if (!shown_ || (g_bar && now - drawn_ < std::chrono::milliseconds(100))) return;
  drawn_ = now;
  draw(done, total);
}

int Progress::callback(int64_t done, int64_t total, void* user) {
  auto& progress = *static_cast<Progress*>(user);
  note_work(progress.label_, done, total, progress.thing_);
  if (caught_signal() != 0) return 1;
  progress.show(done, total);  // must not throw: called by C code
  return 0;
}

std::string Progress::amount(int64_t done) const { return thing_ == nullptr ? short_size(done) : std::to_string(done); }

void Progress::draw(int64_t done, int64_t total) {
  const double share = total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0.0;
  const double seconds = std::chrono::duration<double>(drawn_ - started_).count();
  const auto speed = static_cast<int64_t>(seconds > 0.2 ? static_cast<double>(done) / seconds : 0);
  const std::string numbers =
      fmt::format(" {:3.0f} %  {} of {}{}  {}/s", share * 100, amount(done), amount(total),
                  thing_ == nullptr ? std::string() : fmt::format(" {}", thing_), amount(speed));
  const int room = terminal_columns() - static_cast<int>(std::strlen(label_) + numbers.size()) - 4;
  const auto width = static_cast<size_t>(std::clamp(room, 0, 40));
  const auto full = static_cast<size_t>(share * static_cast<double>(width));
  const std::lock_guard lock(g_terminal);
  to_terminal(
      fmt::format("\r\x1b[K{} [{}{}]{}", label_, std::string(full, '#'), std::string(width - full, '.'), numbers));
  g_bar = true;
}

}  // namespace tool
