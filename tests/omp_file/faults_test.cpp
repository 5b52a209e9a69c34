// Wrong arguments of one thread: every thread gets its error, none hangs, no byte is written, and the file stays
// usable.
#include <cerrno>
#include <climits>

#include "omp_file/omp_file_support.hpp"

namespace omp_file_test {
namespace {

constexpr long kLength = 100;

// One kind of wrong argument.
struct Garbage {
  const char* what;
  int error;
  bool (*applies)(const Form&);
  void (*spoil)(Arguments&);
};

bool always(const Form&) { return true; }
bool to_blocks(const Form& form) { return !form.is_list; }
bool to_lists(const Form& form) { return form.is_list; }

const iovec kNullPiece[1] = {{nullptr, 10}};
char some_memory[16];
const iovec kHugePiece[1] = {{some_memory, static_cast<std::size_t>(SSIZE_MAX) + 2}};
const off_t kNegativeOffsets[1] = {-5};

const std::vector<Garbage>& garbage() {
  static const std::vector<Garbage> all = {
      {"NULL buffer", EFAULT, to_blocks, [](Arguments& a) { a.buf = nullptr; }},
      {"negative length", EINVAL, to_blocks, [](Arguments& a) { a.length = -1; }},
      {"most negative length", EINVAL, to_blocks, [](Arguments& a) { a.length = LONG_MIN; }},
      {"negative offset", EINVAL, [](const Form& form) { return !form.is_list && form.has_offset; },
       [](Arguments& a) { a.offset = -1; }},
      {"NULL list", EFAULT, to_lists, [](Arguments& a) { a.list = nullptr; }},
      {"negative size", EINVAL, to_lists, [](Arguments& a) { a.size = -1; }},
      {"a NULL piece", EFAULT, to_lists, [](Arguments& a) { a.list = kNullPiece; }},
      {"a piece of more than 2^63-1 bytes", EINVAL, to_lists, [](Arguments& a) { a.list = kHugePiece; }},
      {"NULL offsets", EFAULT, [](const Form& form) { return form.is_list && form.has_offset; },
       [](Arguments& a) { a.offsets = nullptr; }},
      {"a negative offset of a list", EINVAL, [](const Form& form) { return form.is_list && form.has_offset; },
       [](Arguments& a) { a.offsets = kNegativeOffsets; }},
      {"descriptor -1", EBADF, always, [](Arguments& a) { a.fd = -1; }},
      {"a POSIX descriptor", EBADF, always, [](Arguments& a) { a.fd = 1; }},
      {"the largest descriptor", EBADF, always, [](Arguments& a) { a.fd = INT_MAX; }},
      {"the smallest descriptor", EBADF, always, [](Arguments& a) { a.fd = INT_MIN; }},
      {"a descriptor one too large", EBADF, always, [](Arguments& a) { a.fd += 1; }},
  };
  return all;
}

class Faults : public OmpFile, public ::testing::WithParamInterface<int> {
 protected:
  // All threads call `form`; the thread of rank `bad` passes wrong arguments.
  std::vector<Result> call_with(const Form& form, int fd, int bad, const Garbage& wrong, bool& kept_request) {
    std::vector<int> kept(static_cast<std::size_t>(GetParam()), 1);
    auto results = results_on(GetParam(), [&](int rank) {
      Bytes memory(kLength, 'x');
      const iovec piece[1] = {{memory.data(), kLength}};
      const off_t offset[1] = {form.common ? 0 : rank * kLength};
      Arguments arguments = {memory.data(), kLength, offset[0], piece, offset, 1, fd, 0};
      if (rank == bad) wrong.spoil(arguments);
      omp_file_request request = -7;
      const int returned = form.call(arguments, &request);
      const int error = errno;
      kept[static_cast<std::size_t>(rank)] = request == -7 || !form.nonblocking;
      errno = error;
      return returned;
    });
    for (const int k : kept) kept_request = kept_request && k != 0;
    return results;
  }
};

TEST_P(Faults, GarbageOfOneThreadIsTheErrorOfAll) {
  const Bytes before = noise(1000, 5);
  store(path(), before);
  const int fd = open_file(O_RDWR);

  for (const Form& form : forms()) {
    for (const Garbage& wrong : garbage()) {
      for (int bad = 0; wrong.applies(form) && bad < GetParam(); ++bad) {
        bool kept_request = true;
        EXPECT_EQ(call_with(form, fd, bad, wrong, kept_request), all_failed(GetParam(), wrong.error))
            << form.name << ", " << wrong.what << " by thread " << bad;
        EXPECT_TRUE(kept_request) << form.name;
      }
    }
  }

  EXPECT_TRUE(contents(path()) == before);
  EXPECT_EQ(results_on(GetParam(), [&](int) { return omp_file_write_all("good", 4, fd, 0); }), all_ok(GetParam()));
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(Faults, ANullRequestPointerOfOneThread) {
  const int fd = open_file();

  for (const Form& form : forms()) {
    for (int bad = 0; form.nonblocking && bad < GetParam(); ++bad) {
      const auto results = results_on(GetParam(), [&](int rank) {
        omp_file_request request = 0;
        return form.call({.fd = fd}, rank == bad ? nullptr : &request);
      });
      EXPECT_EQ(results, all_failed(GetParam(), EFAULT)) << form.name;
    }
  }

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(Faults, EveryArgumentOfTheOtherCallsByEveryThread) {
  const int fd = open_file();
  const std::string name = path("other");
  struct Call {
    const char* what;
    int error;
    std::function<int(bool)> call;  // true: with wrong arguments
  };
  int out = -1;
  off_t number = -1;
  int done = -1;
  omp_file_request none = OMP_FILE_REQUEST_NULL;
  omp_file_request nonsense = 0x7fffffffffff;
  const int flags = O_RDWR | O_CREAT;
  const std::vector<Call> calls = {
      {"open: fd", EFAULT,
       [&](bool bad) { return omp_file_open_all(bad ? nullptr : &out, name.c_str(), flags, 0600); }},
      {"open: name", EFAULT,
       [&](bool bad) { return omp_file_open_all(&out, bad ? nullptr : name.c_str(), flags, 0600); }},
      {"open: unknown flags", EINVAL,
       [&](bool bad) { return omp_file_open_all(&out, name.c_str(), bad ? flags | O_DIRECTORY : flags, 0600); }},
      {"open: both accesses", EINVAL,
       [&](bool bad) { return omp_file_open_all(&out, name.c_str(), bad ? flags | O_ACCMODE : flags, 0600); }},
      {"open: creating without writing", EINVAL,
       [&](bool bad) { return omp_file_open_all(&out, name.c_str(), bad ? O_RDONLY | O_CREAT : flags, 0600); }},
      {"open: mode", EINVAL,
       [&](bool bad) { return omp_file_open_all(&out, name.c_str(), flags, bad ? 0200600 : 0600); }},
      {"sync: fd", EBADF, [&](bool bad) { return omp_file_sync_all(bad ? 1 : fd); }},
      {"seek: fd", EBADF, [&](bool bad) { return omp_file_seek_all(bad ? 1 : fd, 0, SEEK_SET, nullptr); }},
      {"seek: whence", EINVAL, [&](bool bad) { return omp_file_seek_all(fd, 0, bad ? 77 : SEEK_SET, nullptr); }},
      {"size: fd", EBADF, [&](bool bad) { return omp_file_size_all(bad ? 1 : fd, &number); }},
      {"size: size", EFAULT, [&](bool bad) { return omp_file_size_all(fd, bad ? nullptr : &number); }},
      {"close: fd", EBADF, [&](bool bad) { return omp_file_close_all(bad ? 1 : fd); }},
      {"wait: request", EFAULT, [&](bool bad) { return omp_file_wait_all(bad ? nullptr : &none); }},
      {"wait: garbage", EINVAL, [&](bool bad) { return omp_file_wait_all(bad ? &nonsense : &none); }},
      {"test: request", EFAULT, [&](bool bad) { return omp_file_test_all(bad ? nullptr : &none, &done); }},
      {"test: garbage", EINVAL, [&](bool bad) { return omp_file_test_all(bad ? &nonsense : &none, &done); }},
      {"test: done", EFAULT, [&](bool bad) { return omp_file_test_all(&none, bad ? nullptr : &done); }},
  };

  for (const Call& call : calls) {
    for (int bad = 0; bad < GetParam(); ++bad) {
      EXPECT_EQ(results_on(GetParam(), [&](int rank) { return call.call(rank == bad); }),
                all_failed(GetParam(), call.error))
          << call.what << " by thread " << bad;
    }
    EXPECT_EQ(results_on(GetParam(), [&](int) { return call.call(true); }), all_failed(GetParam(), call.error))
        << call.what << " by all";
  }

  EXPECT_EQ(out, -1);
  EXPECT_EQ(done, -1);
  EXPECT_NE(access(name.c_str(), F_OK), 0);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

class FaultsOfOneOfMany : public Faults {};

TEST_P(FaultsOfOneOfMany, ArgumentsThatMustBeTheSameAndDiffer) {
  const int fd = open_file();
  const int other = open_file(O_RDWR | O_CREAT, "other");
  const int n = GetParam();
  int out = -1;
  const auto odd = [n](int rank) { return rank == n - 1; };
  const auto open_with = [&](const std::string& name, int flags, int mode) {
    return omp_file_open_all(&out, path(name).c_str(), flags, mode);
  };

  const auto invalid = all_failed(n, EINVAL);
  EXPECT_EQ(results_on(n, [&](int r) { return open_with(odd(r) ? "a" : "b", O_RDWR | O_CREAT, 0600); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return open_with("a", odd(r) ? O_RDWR : O_RDONLY, 0600); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return open_with("a", O_RDWR | O_CREAT, odd(r) ? 0600 : 0640); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return omp_file_seek_all(fd, odd(r) ? 1 : 2, SEEK_SET, nullptr); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return omp_file_seek_all(fd, 0, odd(r) ? SEEK_END : SEEK_SET, nullptr); }),
            invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return omp_file_close_all(odd(r) ? other : fd); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return omp_file_sync_all(odd(r) ? other : fd); }), invalid);
  EXPECT_EQ(results_on(n, [&](int r) { return omp_file_write_all("x", 1, odd(r) ? other : fd, 0); }), invalid);

  EXPECT_EQ(omp_file_close_all(other), 0);
  EXPECT_EQ(omp_file_close_all(fd), 0);
}

TEST_P(FaultsOfOneOfMany, CommonArgumentsThatDiffer) {
  store(path(), noise(1000, 5));
  const int fd = open_file(O_RDWR);
  static char memory[2][64];

  for (const Form& form : forms()) {
    if (!form.common) continue;
    for (int what = 0; what < 3; ++what) {
      const auto results = results_on(GetParam(), [&](int rank) {
        const bool odd = rank == GetParam() - 1;
        const iovec piece[1] = {{memory[odd && what == 0], odd && what == 1 ? 63U : 64U}};
        const off_t offset[1] = {odd && what == 2 ? 1 : 0};
        return run(form, {piece[0].iov_base, static_cast<long>(piece[0].iov_len), offset[0], piece, offset, 1, fd, 0});
      });
      const bool differs = what < 2 || form.has_offset;
      EXPECT_EQ(results, differs ? all_failed(GetParam(), EINVAL) : all_ok(GetParam())) << form.name << " " << what;
    }
  }

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

INSTANTIATE_TEST_SUITE_P(Teams, Faults, ::testing::Values(1, 2, 3, 5));
INSTANTIATE_TEST_SUITE_P(Teams, FaultsOfOneOfMany, ::testing::Values(2, 3, 5));

TEST_F(OmpFile, SixtyFourThreadsOfWhichOneIsWrong) {
  const int fd = open_file();

  for (const int bad : {0, 1, 31, 63}) {
    EXPECT_EQ(results_on(64, [&](int rank) { return omp_file_write_all("x", rank == bad ? -1 : 1, fd, 0); }),
              all_failed(64, EINVAL));
  }

  EXPECT_EQ(results_on(64, [&](int) { return omp_file_write_all("x", 1, fd, 0); }), all_ok(64));
  EXPECT_EQ(omp_file_close_all(fd), 0);
  EXPECT_EQ(contents(path()), Bytes(64, 'x'));
}

TEST_F(OmpFile, AnAccessThatTheFileWasNotOpenedForIsEbadf) {
  store(path(), noise(10, 1));
  const int reader = open_file(O_RDONLY);
  const int writer = open_file(O_WRONLY);
  char memory[4] = {};

  EXPECT_EQ(results_on(3, [&](int) { return omp_file_write_all("x", 1, reader, 0); }), all_failed(3, EBADF));
  EXPECT_EQ(results_on(3, [&](int) { return omp_file_read_all(memory, 1, writer, 0); }), all_failed(3, EBADF));

  EXPECT_EQ(omp_file_close_all(reader), 0);
  EXPECT_EQ(omp_file_close_all(writer), 0);
}

TEST_F(OmpFile, BeyondTheLargestOffset) {
  const int fd = open_file();
  char memory[64] = {};
  const auto last = static_cast<off_t>(INT64_MAX);

  EXPECT_EQ(results_on(2, [&](int) { return omp_file_write_at_all(memory, 64, last - 3, fd, 0); }),
            all_failed(2, EFBIG));
  EXPECT_EQ(results_on(2, [&](int) { return omp_file_read_at_all(memory, 64, last - 3, fd, 0); }),
            all_failed(2, EOVERFLOW));

  EXPECT_EQ(omp_file_close_all(fd), 0);
}

}  // namespace
}  // namespace omp_file_test
