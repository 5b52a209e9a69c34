// Lives of multifiles and vpfiles, drawn from seeds: sessions that create, append and update, deaths of the process in
// the midst of them and of repairs, and one death of the machine. Each state that the machine may have left is an
// image; what was synced is in it, byte for byte, and nothing that nobody wrote.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "testing/fault_backend.hpp"
#include "testing/fault_journal.hpp"

namespace thalweg::test {

// A multifile or a vpfile, and what its writers were promised.
class DyingFile {
 public:
  virtual ~DyingFile() = default;
  virtual std::string describe() const = 0;
  // One session of all tasks, which ends early where the storage is dead. The first one creates the file.
  virtual void run_session(const std::shared_ptr<FaultBackend>& storage) = 0;
  virtual Status repair(const std::shared_ptr<Backend>& storage) = 0;
  virtual bool closed() const = 0;            // the last session was, on all tasks
  virtual bool anything_flushed() const = 0;  // what a repair must bring back
  // After a repair or a session that was closed: reads everything, and knows what there is from now on. "": it is
  // right.
  virtual std::string look(const std::shared_ptr<Backend>& storage) = 0;
  virtual void all_reached_storage() = 0;  // everything there is
  // What is wrong with what the death of the machine left. `had_closed`: the file was sound once, and on the storage.
  virtual std::string check_image(const std::shared_ptr<Backend>& storage, bool had_closed) = 0;
};
std::unique_ptr<DyingFile> make_dying_multifile(std::uint64_t seed);
std::unique_ptr<DyingFile> make_dying_vpfile(std::uint64_t seed);
inline std::unique_ptr<DyingFile> make_dying_file(bool vpfile, std::uint64_t seed) {
  return vpfile ? make_dying_vpfile(seed) : make_dying_multifile(seed);
}

struct Life {
  std::string problem;      // "": all is well
  std::uint64_t calls = 0;  // that reached storage before a death
  std::uint64_t sessions = 0, kills = 0, repairs = 0;
};
struct MachineDeath {
  std::uint64_t at = 1;    // call of the life; beyond the last one: after it
  std::uint64_t seed = 0;  // of the loss
};
// The same seed lives the same life, up to the death of the machine.
Life live(bool vpfile, std::uint64_t seed, const std::optional<MachineDeath>& death);

struct Deaths {
  std::string problem;
  std::uint64_t images = 0, sessions = 0, kills = 0, repairs = 0;
};
// One whole life, and `images` of its machine deaths.
Deaths die_often(bool vpfile, std::uint64_t seed, std::uint64_t images);

}  // namespace thalweg::test
