// Requests of files among those of messages, in every call of MPI that completes requests.
#include <algorithm>
#include <cstring>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

// Two accesses of this rank, and a message to itself, in one list: 0 a send, 1 a write, 2 a receive, 3 a read of what
// is in the file from the begin.
class MpiioRequests : public testing::Test {
 protected:
  static constexpr int kN = 4;
  static constexpr int kInts = 50;  // of the file before: 0, 1, 2 ..

  MpiioRequests() {
    const std::vector<int> before = numbers(kInts, 0);
    fill(folder_.path("file"), {reinterpret_cast<const char*>(before.data()), before.size() * sizeof(int)});
    MPI_File_open(MPI_COMM_WORLD, folder_.path("file").c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file_);
    MPI_File_set_view(file_, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  }
  ~MpiioRequests() override { close(); }

  void close() {
    if (file_ != MPI_FILE_NULL) {
      EXPECT_MPI(MPI_File_close(&file_));
    }
  }

  void start(bool collective = false) {
    std::fill(received_.begin(), received_.end(), -1);
    std::fill(read_.begin(), read_.end(), -1);
    MPI_Isend(sent_.data(), 10, MPI_INT, 0, 5, MPI_COMM_SELF, &requests_[0]);
    const MPI_Offset at = kInts + 10 * world_rank();
    if (collective)
      EXPECT_MPI(MPI_File_iwrite_at_all(file_, at, written_.data(), 10, MPI_INT, &requests_[1]));
    else
      EXPECT_MPI(MPI_File_iwrite_at(file_, at, written_.data(), 10, MPI_INT, &requests_[1]));
    MPI_Irecv(received_.data(), 20, MPI_INT, 0, 5, MPI_COMM_SELF, &requests_[2]);
    if (collective)
      EXPECT_MPI(MPI_File_iread_at_all(file_, 8, read_.data(), 20, MPI_INT, &requests_[3]));
    else
      EXPECT_MPI(MPI_File_iread_at(file_, 8, read_.data(), 20, MPI_INT, &requests_[3]));
  }

  // What the status of the request at this place of the list says.
  static void expect_status(int place, const MPI_Status& status) {
    SCOPED_TRACE("request " + std::to_string(place));
    if (place == 1) {
      EXPECT_EQ(count_of(status, MPI_INT), 10);
    }
    if (place == 2) {
      EXPECT_EQ(count_of(status, MPI_INT), 10);
      EXPECT_EQ(status.MPI_SOURCE, 0);
      EXPECT_EQ(status.MPI_TAG, 5);
    }
    if (place == 3) {
      EXPECT_EQ(count_of(status, MPI_INT), 20);
    }
    int cancelled = -1;
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT_EQ(cancelled, 0);
  }

  void expect_done() {
    for (const MPI_Request request : requests_) EXPECT_EQ(request, MPI_REQUEST_NULL);
    EXPECT_EQ(std::vector<int>(received_.begin(), received_.begin() + 10), sent_);
    EXPECT_EQ(read_, numbers(20, 8));
    barrier();
    EXPECT_MPI(MPI_File_sync(file_));
    const std::vector<int> all = ints_of(content(folder_.path("file")));
    const auto begin = static_cast<std::size_t>(kInts + 10 * world_rank());
    ASSERT_GE(all.size(), begin + 10);
    EXPECT_EQ(std::vector<int>(all.begin() + static_cast<int>(begin), all.begin() + static_cast<int>(begin) + 10),
              written_);
    barrier();
  }

  SharedFolder folder_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Request requests_[kN] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::vector<int> sent_ = numbers(10, 70), written_ = numbers(10, 500 + 10 * world_rank());
  std::vector<int> received_ = std::vector<int>(20), read_ = std::vector<int>(20);
};

TEST_F(MpiioRequests, Waitall) {
  for (const bool collective : {false, true}) {
    start(collective);
    MPI_Status statuses[kN];
    EXPECT_MPI(MPI_Waitall(kN, requests_, statuses));
    for (int i = 0; i < kN; ++i) expect_status(i, statuses[i]);
    expect_done();
    start(collective);
    EXPECT_MPI(MPI_Waitall(kN, requests_, MPI_STATUSES_IGNORE));
    expect_done();
  }
}

TEST_F(MpiioRequests, Testall) {
  for (const bool collective : {false, true}) {
    start(collective);
    MPI_Status statuses[kN];
    for (int flag = 0; flag == 0;) {
      EXPECT_MPI(MPI_Testall(kN, requests_, &flag, statuses));
      if (flag == 0) {
        EXPECT_NE(requests_[1], MPI_REQUEST_NULL);
      }
    }
    for (int i = 0; i < kN; ++i) expect_status(i, statuses[i]);
    expect_done();
    start(collective);
    for (int flag = 0; flag == 0;) EXPECT_MPI(MPI_Testall(kN, requests_, &flag, MPI_STATUSES_IGNORE));
    expect_done();
  }
}

TEST_F(MpiioRequests, Waitany) {
  for (const bool ignored : {false, true}) {
    start(ignored);
    std::vector<int> seen;
    for (int i = 0; i < kN; ++i) {
      int index = -1;
      MPI_Status status;
      EXPECT_MPI(MPI_Waitany(kN, requests_, &index, ignored ? MPI_STATUS_IGNORE : &status));
      if (!ignored) expect_status(index, status);
      seen.push_back(index);
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, numbers(kN, 0));
    int index = 0;
    EXPECT_MPI(MPI_Waitany(kN, requests_, &index, MPI_STATUS_IGNORE));
    EXPECT_EQ(index, MPI_UNDEFINED);
    expect_done();
  }
}

TEST_F(MpiioRequests, Testany) {
  for (const bool ignored : {false, true}) {
    start(ignored);
    std::vector<int> seen;
    while (seen.size() < kN) {
      int index = -1, flag = 0;
      MPI_Status status;
      EXPECT_MPI(MPI_Testany(kN, requests_, &index, &flag, ignored ? MPI_STATUS_IGNORE : &status));
      if (flag == 0) continue;
      if (!ignored) expect_status(index, status);
      seen.push_back(index);
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, numbers(kN, 0));
    int index = 0, flag = 0;
    EXPECT_MPI(MPI_Testany(kN, requests_, &index, &flag, MPI_STATUS_IGNORE));
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(index, MPI_UNDEFINED);
    expect_done();
  }
}

TEST_F(MpiioRequests, WaitsomeAndTestsome) {
  for (const bool test : {false, true})
    for (const bool ignored : {false, true}) {
      start(ignored);
      std::vector<int> seen;
      while (seen.size() < kN) {
        int n = -1, indices[kN];
        MPI_Status statuses[kN];
        MPI_Status* const wanted = ignored ? MPI_STATUSES_IGNORE : statuses;
        EXPECT_MPI(test ? MPI_Testsome(kN, requests_, &n, indices, wanted)
                        : MPI_Waitsome(kN, requests_, &n, indices, wanted));
        if (!test) {
          EXPECT_GE(n, 1);
        }
        for (int i = 0; i < n; ++i) {
          seen.push_back(indices[i]);
          if (!ignored) expect_status(indices[i], statuses[i]);
        }
      }
      std::ranges::sort(seen);
      EXPECT_EQ(seen, numbers(kN, 0));
      int n = 0, indices[kN];
      EXPECT_MPI(MPI_Testsome(kN, requests_, &n, indices, MPI_STATUSES_IGNORE));
      EXPECT_EQ(n, MPI_UNDEFINED);
      expect_done();
    }
}

TEST_F(MpiioRequests, WaitAndTestOneByOne) {
  start(true);
  for (int i = 0; i < kN; ++i) {
    MPI_Status status;
    if (i < 2) {
      EXPECT_MPI(MPI_Wait(&requests_[i], &status));
    } else {
      for (int flag = 0; flag == 0;) EXPECT_MPI(MPI_Test(&requests_[i], &flag, &status));
    }
    expect_status(i, status);
  }
  expect_done();
  // Null requests are complete, and have an empty status.
  MPI_Status status;
  int flag = 0;
  EXPECT_MPI(MPI_Wait(&requests_[1], &status));
  EXPECT_MPI(MPI_Test(&requests_[1], &flag, &status));
  EXPECT_EQ(flag, 1);
  EXPECT_EQ(count_of(status, MPI_INT), 0);
  EXPECT_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
}

TEST_F(MpiioRequests, GetStatusLeavesTheRequest) {
  start();
  MPI_Status status;
  for (const int place : {1, 3}) {
    for (int flag = 0; flag == 0;) EXPECT_MPI(MPI_Request_get_status(requests_[place], &flag, &status));
    expect_status(place, status);
    EXPECT_NE(requests_[place], MPI_REQUEST_NULL);
    int flag = 0;
    EXPECT_MPI(MPI_Request_get_status(requests_[place], &flag, MPI_STATUS_IGNORE));
    EXPECT_EQ(flag, 1);
  }
  MPI_Status statuses[kN];
  EXPECT_MPI(MPI_Waitall(kN, requests_, statuses));
  for (int i = 0; i < kN; ++i) expect_status(i, statuses[i]);
  expect_done();
}

TEST_F(MpiioRequests, FreedOnesAreCarriedOut) {
  for (const bool collective : {false, true}) {
    start(collective);
    EXPECT_MPI(MPI_Request_free(&requests_[1]));
    EXPECT_EQ(requests_[1], MPI_REQUEST_NULL);
    EXPECT_MPI(MPI_Waitall(kN, requests_, MPI_STATUSES_IGNORE));
  }
  std::vector<int> large(300000, world_rank() + 1);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iwrite_at(file_, 1000 + 300000 * world_rank(), large.data(), 300000, MPI_INT, &request));
  EXPECT_MPI(MPI_Request_free(&request));
  close();
  barrier();
  const std::vector<int> all = ints_of(content(folder_.path("file")));
  ASSERT_EQ(all.size(), 1000u + 300000u * static_cast<unsigned>(world_size()));
  for (std::size_t i = 1000; i < all.size(); i += 997) EXPECT_EQ(all[i], static_cast<int>((i - 1000) / 300000) + 1);
  const auto begin = all.begin() + kInts + 10 * world_rank();
  EXPECT_EQ(std::vector<int>(begin, begin + 10), written_);
}

TEST_F(MpiioRequests, ACancelChangesNothing) {
  start();
  EXPECT_MPI(MPI_Cancel(&requests_[1]));
  MPI_Status statuses[kN];
  EXPECT_MPI(MPI_Waitall(kN, requests_, statuses));
  for (int i = 0; i < kN; ++i) expect_status(i, statuses[i]);
  expect_done();
}

TEST_F(MpiioRequests, OfNothingComplete) {
  MPI_Request requests[4];
  EXPECT_MPI(MPI_File_iwrite(file_, nullptr, 0, MPI_INT, &requests[0]));
  EXPECT_MPI(MPI_File_iread_all(file_, nullptr, 0, MPI_INT, &requests[1]));
  EXPECT_MPI(MPI_File_iwrite_shared(file_, nullptr, 0, MPI_INT, &requests[2]));
  int beyond = 7;
  EXPECT_MPI(MPI_File_iread_at(file_, 1000000, &beyond, 1, MPI_INT, &requests[3]));
  MPI_Status statuses[4];
  EXPECT_MPI(MPI_Waitall(4, requests, statuses));
  for (const MPI_Status& status : statuses) EXPECT_EQ(count_of(status, MPI_INT), 0);
}

TEST_F(MpiioRequests, AtTheEndOfTheFileHaveTheCountThatWasRead) {
  std::vector<double> back(20, -1);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_MPI(MPI_File_iread_at_all(file_, kInts - 5, back.data(), 20, MPI_DOUBLE, &request));
  MPI_Status status;
  EXPECT_MPI(MPI_Wait(&request, &status));
  EXPECT_EQ(elements_of(status, MPI_BYTE), 20);
  EXPECT_EQ(elements_of(status, MPI_INT), 5);
  EXPECT_EQ(count_of(status, MPI_INT), 5);
  EXPECT_EQ(count_of(status, MPI_DOUBLE), MPI_UNDEFINED);
}

TEST_F(MpiioRequests, AHundredAtOnce) {
  constexpr int kMany = 100;
  std::vector<MPI_Request> requests(kMany);
  std::vector<int> values = numbers(kMany, 1000 * world_rank());
  for (int i = 0; i < kMany; ++i) {
    const MPI_Offset at = 1000 + i * world_size() + world_rank();
    if (i % 4 == 0)
      EXPECT_MPI(MPI_File_iwrite_at_all(file_, at, &values[static_cast<std::size_t>(i)], 1, MPI_INT,
                                        &requests[static_cast<std::size_t>(i)]));
    else
      EXPECT_MPI(MPI_File_iwrite_at(file_, at, &values[static_cast<std::size_t>(i)], 1, MPI_INT,
                                    &requests[static_cast<std::size_t>(i)]));
  }
  std::vector<MPI_Status> statuses(kMany);
  EXPECT_MPI(MPI_Waitall(kMany, requests.data(), statuses.data()));
  for (const MPI_Status& status : statuses) EXPECT_EQ(count_of(status, MPI_INT), 1);
  barrier();
  const std::vector<int> all = ints_of(content(folder_.path("file")));
  ASSERT_EQ(all.size(), 1000u + kMany * static_cast<unsigned>(world_size()));
  for (int i = 0; i < kMany; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(1000 + i * world_size() + world_rank())],
              values[static_cast<std::size_t>(i)]);
}

TEST_F(MpiioRequests, OfTwoFilesAndOfTheIndividualPointer) {
  const OpenFile other(folder_.path("other"));
  EXPECT_MPI(MPI_File_set_view(other, 400 * world_rank(), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  std::vector<MPI_Request> requests;
  const std::vector<int> values = numbers(100, 0);
  for (std::size_t i = 0; i < 10; ++i) {
    requests.resize(requests.size() + 2);
    EXPECT_MPI(MPI_File_iwrite(other, &values[10 * i], 10, MPI_INT, &requests[2 * i]));
    EXPECT_MPI(MPI_File_iread_at(file_, 0, received_.data(), 0, MPI_INT, &requests[2 * i + 1]));
  }
  MPI_Offset position = 0;
  EXPECT_MPI(MPI_File_get_position(other, &position));
  EXPECT_EQ(position, 100);
  EXPECT_MPI(MPI_Waitall(20, requests.data(), MPI_STATUSES_IGNORE));
  std::vector<int> back(100);
  EXPECT_MPI(MPI_File_read_at(other, 0, back.data(), 100, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace thalweg::test
