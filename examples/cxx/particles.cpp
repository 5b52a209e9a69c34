// Particles of the cells of a grid, any number per cell, written by all tasks together, read by another number of
// tasks; and a line of text that one cell writes independently.
//     example_cxx_particles particles.vp
#include <cstdint>
#include <cstdio>
#include <string>
#include <thalweg/thalweg.hpp>
#include <thread>
#include <vector>

namespace {

struct Particle {
  double x, y;
};

void in_tasks(int tasks, void (*body)(const thalweg::Group&, const std::string&), const std::string& path) {
  tw_team* team = nullptr;
  thalweg::check(tw_team_create(tasks, &team));
  {
    std::vector<std::jthread> threads;
    for (int task = 0; task < tasks; ++task) {
      threads.emplace_back([=] {
        try {
          body(thalweg::Group::make(tw_group_team, team, task), path);
        } catch (const thalweg::Error& error) {
          std::fprintf(stderr, "task %d: %s\n", task, error.what());
        }
      });
    }
  }
  tw_team_free(&team);
}

void write(const thalweg::Group& group, const std::string& path) {
  thalweg::vp::File file(group, path, "w", {2, 3});  // a stream for each cell of 2 times 3; by all tasks
  std::vector<std::uint64_t> numbers;                // of each cell of this task
  std::vector<Particle> particles;                   // of the first one, then of the next one, ...
  file.for_each([&](thalweg::vp::Stream cell) {
    numbers.push_back(static_cast<std::uint64_t>(cell.vp() % 4));
    for (std::uint64_t i = 0; i < numbers.back(); ++i)
      particles.push_back({static_cast<double>(cell.vp()), 0.5 * static_cast<double>(i)});
  });
  file.write_all(numbers, 1);  // by all tasks, as the next one
  file.write_all(particles, numbers);
  if (file.local(5)) file.stream(5).printf("the last of %d cells\n", static_cast<int>(file.size()));
  file.close();  // by all tasks
}

void read(const thalweg::Group& group, const std::string& path) {
  thalweg::vp::File file(group, path, "r");
  std::vector<std::uint64_t> numbers(file.local_size());
  file.read_all(numbers, 1);
  std::size_t all = 0;
  for (const std::uint64_t n : numbers) all += n;
  std::vector<Particle> particles(all);
  file.read_all(particles, numbers);
  std::size_t at = 0;
  for (std::size_t i = 0; i < numbers.size(); at += numbers[i++]) {
    double sum = 0;
    for (std::size_t k = at; k < at + numbers[i]; ++k) sum += particles[k].x + particles[k].y;
    std::printf("cell %d: %d particles, sum %.1f\n", static_cast<int>(file.number(static_cast<std::int64_t>(i))),
                static_cast<int>(numbers[i]), sum);
  }
  if (file.local(5)) std::printf("%s\n", file.stream(5).getline().value_or("nothing").c_str());
  file.close();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "particles.vp";
  in_tasks(3, write, path);
  in_tasks(2, read, path);
}
