// The threads of a program (std::thread, no OpenMP, no MPI) each write their own logical file; then one reads them all.
//     example_cxx_threads trace.tw
#include <cstdio>
#include <string>
#include <thalweg/thalweg.hpp>
#include <thread>
#include <vector>

namespace {

struct Event {
  int thread, number;
};

void trace(tw_team* team, int thread, const std::string& path) try {
  const auto group = thalweg::Group::make(tw_group_team, team, thread);
  thalweg::Multifile file(group, path, TW_CREATE | TW_TRUNCATE);  // by all threads of the team
  for (int number = 0; number < 1000; ++number) file.write_value(Event{thread, number});
  file.close();  // by all threads of the team
} catch (const thalweg::Error& error) {
  std::fprintf(stderr, "thread %d: %s\n", thread, error.what());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "trace.tw";
  constexpr int kThreads = 4;
  tw_team* team = nullptr;
  thalweg::check(tw_team_create(kThreads, &team));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(trace, team, i, path);
  }
  tw_team_free(&team);

  thalweg::Multifile file(path, TW_READ);
  for (int i = 0; i < kThreads; ++i) {
    int n_events = 0;
    file.seek_to(i, 0);
    while (const auto event = file.read_value<Event>()) n_events += event->thread == i;
    std::printf("thread %d wrote %d events\n", i, n_events);
  }
  file.close();
}
