#include "support/crash/process_journal.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace thalweg::test {

const char* name_of(Doing doing) {
  constexpr const char* kNames[] = {"nothing", "creating", "writing", "flushing", "syncing", "closing", "done"};
  return doing < Doing::count ? kNames[static_cast<std::size_t>(doing)] : "?";
}

MappedJournal::MappedJournal(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  void* at = MAP_FAILED;
  // A new file reads as zeros, which is an empty journal.
  if (fd >= 0 && ::ftruncate(fd, sizeof(Journal)) == 0)
    at = ::mmap(nullptr, sizeof(Journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    std::perror(path.c_str());
    std::abort();
  }
  ::close(fd);
  journal_ = static_cast<Journal*>(at);
}

MappedJournal::~MappedJournal() { ::munmap(journal_, sizeof(Journal)); }

History MappedJournal::history(int number) const {
  const JournalFile& file = journal_->files[number];
  History history;
  if (file.added.load() != 0) history.name = name_of(number);
  history.flushed = file.flushed.load();
  for (std::uint64_t i = 0; i < file.begun.load(); ++i) history.begin(file.writes[i].offset, file.writes[i].bytes);
  return history;
}

}  // namespace thalweg::test
