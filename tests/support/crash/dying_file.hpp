// Lives of multifiles and vpfiles, drawn from seeds: sessions that create, append and update, deaths of the process
// during sessions and repairs, and one death of the machine. Each possible state of storage after that death is an
// image; it must hold all synced bytes and no byte that nobody wrote.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "testing/fault_backend.hpp"
#include "testing/fault_journal.hpp"

namespace thalweg::test {

// A multifile or a vpfile, and the data that its writers' calls certified.
class DyingFile {
 public:
  virtual ~DyingFile() = default;
  virtual std::string describe() const = 0;
  // Runs one session of all tasks; it ends early where storage is dead. The first session creates the file.
  virtual void run_session(const std::shared_ptr<FaultBackend>& storage) = 0;
  virtual Status repair(const std::shared_ptr<Backend>& storage) = 0;
  virtual bool closed() const = 0;            // the last session closed on all tasks
  virtual bool anything_flushed() const = 0;  // a repair must restore it
  // Reads everything after a repair or a close, and records it as the known content. Returns "" when it is right.
  virtual std::string look(const std::shared_ptr<Backend>& storage) = 0;
  virtual void all_reached_storage() = 0;  // marks all data as stored
  // Returns what is wrong with an image. `had_closed`: the file was once complete and stored.
  virtual std::string check_image(const std::shared_ptr<Backend>& storage, bool had_closed) = 0;
};
std::unique_ptr<DyingFile> make_dying_multifile(std::uint64_t seed);
std::unique_ptr<DyingFile> make_dying_vpfile(std::uint64_t seed);
inline std::unique_ptr<DyingFile> make_dying_file(bool vpfile, std::uint64_t seed) {
  return vpfile ? make_dying_vpfile(seed) : make_dying_multifile(seed);
}

struct Life {
  std::string problem;      // "": success
  std::uint64_t calls = 0;  // that reached storage before a death
  std::uint64_t sessions = 0, kills = 0, repairs = 0;
};
struct MachineDeath {
  std::uint64_t at = 1;    // number of the call; a number after the last call: death at the end
  std::uint64_t seed = 0;  // of the random loss
};
// Equal seeds give equal lives up to the death of the machine.
Life live(bool vpfile, std::uint64_t seed, const std::optional<MachineDeath>& death);

struct Deaths {
  std::string problem;
  std::uint64_t images = 0, sessions = 0, kills = 0, repairs = 0;
};
// Plays one whole life and checks `images` images of its machine deaths.
Deaths die_often(bool vpfile, std::uint64_t seed, std::uint64_t images);

}  // namespace thalweg::test
