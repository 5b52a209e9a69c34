// The cases of README.md in C++.
#include <mpi.h>

#include <thalweg/group_mpi.h>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thalweg/thalweg.hpp>
#include <vector>

namespace {

constexpr int kRows = 12, kColumns = 8, kFieldBytes = 8 * kRows * kColumns;

double value(std::int64_t i, std::int64_t j) { return static_cast<double>(100 * i + j); }

std::vector<double> rows_of(std::int64_t first, std::int64_t last) {
  std::vector<double> rows;
  for (auto i = first; i < last; ++i)
    for (int j = 0; j < kColumns; ++j) rows.push_back(value(i, j));
  return rows;
}

std::string line_of(int r, int n) {
  const int first = kRows * r / n, last = kRows * (r + 1) / n;
  return "rank " + std::to_string(r) + " has rows " + std::to_string(first) + " to " + std::to_string(last - 1) + "\n";
}

void expect(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

struct Cases {
  thalweg::Group group = thalweg::Group::make(tw_group_mpi, MPI_COMM_WORLD);
  std::string prefix, failures;
  int rank = static_cast<int>(tw_group_rank(group.get()));
  int ranks = static_cast<int>(tw_group_size(group.get()));
  int first = kRows * rank / ranks, last = kRows * (rank + 1) / ranks;

  void write_shared() {
    const int width = kColumns + 2;
    std::vector<double> memory((last - first + 2) * width, -1);
    for (int i = first; i < last; ++i)
      for (int j = 0; j < kColumns; ++j) memory[(i - first + 1) * width + j + 1] = value(i, j);
    const std::vector<tw_dim> mine{{kRows, first, last - first, 1, 1}, {kColumns, 0, kColumns, 1, 1}};
    const std::vector<std::int64_t> number{1000 + rank};
    thalweg::File file(group, prefix + ".dat", "w");
    file.write_array(memory, mine);
    file.seek(kFieldBytes, SEEK_SET);
    file.write_all(std::string(rank + 1, static_cast<char>('a' + rank)));
    auto request = file.iwrite_at(number, kFieldBytes + ranks * (ranks + 1) / 2 + 8 * rank);
    expect(request.wait() == 8, "bytes of a request");
    file.close();
  }

  void read_shared(int writers) {
    std::string expected;
    for (int r = 0; r < writers; ++r) expected.append(r + 1, static_cast<char>('a' + r));
    for (std::int64_t r = 1000; r < 1000 + writers; ++r) expected.append(reinterpret_cast<const char*>(&r), sizeof r);
    const int left = kColumns * rank / ranks, columns = kColumns * (rank + 1) / ranks - left;
    const std::vector<tw_dim> mine{{kRows, 0, kRows, 0, 0}, {kColumns, left, columns, 0, 0}};
    std::vector<double> part(kRows * columns);
    std::string rest(expected.size() + 1, ' ');
    thalweg::File file(group, prefix + ".dat", "r");
    expect(file.size() == kFieldBytes + static_cast<std::int64_t>(expected.size()), "length of the shared file");
    file.read_array(part, mine);
    for (int k = 0; k < kRows * columns; ++k) expect(part[k] == value(k / columns, left + k % columns), "columns");
    expect(file.read_at_all(rest, kFieldBytes) == expected.size(), "end of the shared file");
    rest.pop_back();
    expect(rest == expected, "bytes behind the field");
    file.close();
  }

  static bool is_even(std::int64_t row) { return row % 2 == 0; }

  void write_cells() {
    std::vector<std::int64_t> even;
    for (int i = first; i < last; ++i)
      if (is_even(i)) even.insert(even.end(), kColumns, i);
    thalweg::vp::File file(group, prefix + ".vp", "w", thalweg::vp::Shape{kRows, kColumns});
    file.write_all(rows_of(first, last), 1);
    file.write_all(even, 1, [&](std::int64_t local) { return is_even(first + local / kColumns); });
    file.close();
  }

  void read_cells() {
    thalweg::vp::File file(group, prefix + ".vp", "r");
    std::vector<double> field(file.local_size());
    std::vector<std::int64_t> even(file.local_size());
    file.read_all(field, 1);
    expect(field == rows_of(first, last), "field of the virtual processors");
    const auto counts = file.read_all(even, 1);
    for (std::size_t k = 0; k < even.size(); ++k) {
      const auto i = first + static_cast<std::int64_t>(k) / kColumns;
      expect(counts[k] == (is_even(i) ? 1 : 0) && (!is_even(i) || even[k] == i), "items under the mask");
    }
    auto stream = file.stream(first * kColumns + 5);
    stream.seek(0);
    expect(stream.read_value<double>() == value(first, 5), "one stream");
    if (is_even(first)) expect(stream.read_value<std::int64_t>() == first, "items of one stream");
    expect(!stream.read_value<char>(), "end of one stream");
    file.close();
  }

  // Notes the message of a call that fails on all ranks, without the task that it names where there are several.
  template <class Call>
  void fails(tw_status wanted, Call call) {
    std::string mine;
    try {
      call();
    } catch (const thalweg::Error& error) {
      expect(error.status() == wanted, "status of a failure");
      mine = error.what();
    }
    auto of_rank_0 = mine;
    of_rank_0.resize(500);
    thalweg::check(tw_group_broadcast(group.get(), of_rank_0.data(), of_rank_0.size(), 0));
    expect(!mine.empty() && mine == of_rank_0.c_str(), "one message on all ranks");
    failures += mine.substr(mine.rfind("task 0: ", 0) == 0 ? 8 : 0) + "\n";
  }

  void have_failures() {
    const thalweg::vp::Shape shape{kRows, rank == 0 ? -1 : kColumns};
    std::vector<double> u(1);
    failures.clear();
    fails(TW_ERR_NOT_FOUND, [&] { thalweg::Multifile(group, prefix + ".missing", "r"); });
    fails(TW_ERR_INVALID, [&] { thalweg::vp::File(group, prefix + ".none", TW_CREATE, shape); });
    fails(TW_ERR_UNKNOWN_HINT,
          [&] { thalweg::File(group, prefix + ".dat", "r", thalweg::Options().hint("colour", "blue")); });
    thalweg::File file(group, prefix + ".dat", "r");
    fails(TW_ERR_MODE, [&] { file.write_at_all(u, 0); });
    fails(TW_ERR_INVALID, [&] { file.read_at_all(u, rank == 0 ? -1 : 0); });
    file.read_at_all(u, 8);
    expect(u[0] == value(0, 1), "a read after failures");
    file.close();
  }

  void write_multifile() {
    thalweg::Multifile file(group, prefix + ".tw", "w");
    file.write(std::vector<std::int64_t>{first, last});
    file.write(rows_of(first, last));
    auto request = file.isync();
    file.add("log/" + std::to_string(rank), 0100644);
    file.write(line_of(rank, ranks));
    file.set_attribute("ranks", std::to_string(ranks));
    file.set_attribute("failures", failures);
    request.wait();
    file.close();
  }

  int read_multifile() {
    thalweg::Multifile file(group, prefix + ".tw", "r");
    const int writers = std::stoi(file.attribute("ranks").value());
    expect(file.attribute("failures") == failures, "messages of the writer");
    expect(!file.find("log/none"), "a name that is missing");
    for (int w = writers * rank / ranks; w < writers * (rank + 1) / ranks; ++w) {
      std::vector<std::int64_t> rows(2);
      file.seek_to(w, 0);
      file.read(rows);
      expect(rows[0] == kRows * w / writers && rows[1] == kRows * (w + 1) / writers, "first and last row");
      std::vector<double> field(kRows * kColumns + 1);
      field.resize(file.read(field));
      expect(field == rows_of(rows[0], rows[1]) && file.eof(), "rows of a logical file");
      file.seek_to(file.find("log/" + std::to_string(w)).value(), 0);
      std::string text(1000, ' ');
      text.resize(file.read(text));
      expect(text == line_of(w, writers), "text of a log file");
    }
    file.close();
    return writers;
  }

  void run(const std::string& what) {
    if (what == "write") {
      write_shared();
      write_cells();
      have_failures();
      write_multifile();
    } else {
      have_failures();
      read_shared(read_multifile());
      read_cells();
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Cases cases;
    try {
      expect(argc > 2, "usage: cases write|read PREFIX...");
      for (int i = 2; i < argc; ++i) {
        cases.prefix = argv[i];
        cases.run(argv[1]);
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "FAILED: C++, rank %d, %s: %s\n", cases.rank, cases.prefix.c_str(), error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
}
