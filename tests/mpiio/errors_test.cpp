// What fails: its error class, the error handler that is called, and that no rank waits for another one for ever.
#include <sys/stat.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "mpiio/mpiio_support.hpp"

namespace thalweg::test {
namespace {

// What the error handlers of a test were called with.
std::vector<std::pair<MPI_File, int>> told;

void note(MPI_File* file, int* code, ...) { told.emplace_back(*file, class_of(*code)); }
void note_negative(MPI_File* file, int* code, ...) { told.emplace_back(*file, -class_of(*code)); }

MPI_Errhandler noting() {
  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(note, &made));
  return made;
}

class MpiioErrors : public testing::Test {
 protected:
  MpiioErrors() { told.clear(); }
  std::string path(const std::string& name = "file") const { return folder_.path(name); }
  int value_ = 3;
  SharedFolder folder_;
};

constexpr int kCreate = MPI_MODE_RDWR | MPI_MODE_CREATE;

// --- error handlers ---------------------------------------------------------------------------------------------------

TEST_F(MpiioErrors, ReturnByDefault) {
  const OpenFile file(path());
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  for (int i = 0; i < 9; ++i) {
    EXPECT_MPI(MPI_File_get_errhandler(i % 2 == 0 ? file.get() : MPI_FILE_NULL, &handler));
    EXPECT_EQ(handler, MPI_ERRORS_RETURN);
    EXPECT_MPI(MPI_Errhandler_free(&handler));
    EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
  }
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
}

TEST_F(MpiioErrors, CallTheHandlerOfTheFile) {
  const OpenFile file(path()), other(path("other"));
  MPI_Errhandler handler = noting(), found = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_set_errhandler(file, handler));
  EXPECT_MPI(MPI_File_get_errhandler(file, &found));
  EXPECT_EQ(found, handler);
  EXPECT_MPI(MPI_Errhandler_free(&found));
  EXPECT_EQ(found, MPI_ERRHANDLER_NULL);
  EXPECT_MPI(MPI_Errhandler_free(&handler));  // the file has it still
  EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);

  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(other, -1, MPI_SEEK_SET));
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], std::pair(file.get(), MPI_ERR_ARG));
  EXPECT_MPI(MPI_File_seek(file, 1, MPI_SEEK_SET));
  EXPECT_EQ(told.size(), 1u);

  EXPECT_MPI(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1], std::pair(file.get(), MPI_ERR_QUOTA));
  EXPECT_MPI(MPI_File_call_errhandler(other, MPI_ERR_QUOTA));
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(MpiioErrors, CallTheLastHandlerThatWasSet) {
  const OpenFile file(path());
  MPI_Errhandler first = noting(), second = MPI_ERRHANDLER_NULL;
  EXPECT_MPI(MPI_File_create_errhandler(note_negative, &second));
  EXPECT_MPI(MPI_File_set_errhandler(file, first));
  EXPECT_MPI(MPI_File_set_errhandler(file, second));
  (void)MPI_File_seek(file, -1, MPI_SEEK_SET);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].second, -MPI_ERR_ARG);
  EXPECT_MPI(MPI_File_set_errhandler(file, first));
  EXPECT_MPI(MPI_Errhandler_free(&first));
  EXPECT_MPI(MPI_Errhandler_free(&second));
  (void)MPI_File_seek(file, -1, MPI_SEEK_SET);
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[1].second, MPI_ERR_ARG);
  EXPECT_MPI(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(MpiioErrors, OfNoFileCallTheDefaultHandlerWhichNewFilesInherit) {
  MPI_Errhandler handler = noting();
  EXPECT_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  MPI_File none = MPI_FILE_NULL;
  EXPECT_CLASS(MPI_ERR_NO_SUCH_FILE,
               MPI_File_open(MPI_COMM_WORLD, path("none").c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &none));
  EXPECT_CLASS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(path("none").c_str(), MPI_INFO_NULL));
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0], std::pair(MPI_File{MPI_FILE_NULL}, MPI_ERR_NO_SUCH_FILE));
  EXPECT_EQ(told[1], std::pair(MPI_File{MPI_FILE_NULL}, MPI_ERR_NO_SUCH_FILE));
  {
    const OpenFile file(path());
    EXPECT_MPI(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
    ASSERT_EQ(told.size(), 3u);
    EXPECT_EQ(told[2], std::pair(file.get(), MPI_ERR_ARG));
  }
  EXPECT_MPI(MPI_Errhandler_free(&handler));
  const OpenFile file(path());
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_seek(file, -1, MPI_SEEK_SET));
  EXPECT_EQ(told.size(), 3u);
}

TEST_F(MpiioErrors, OfRequestsCallTheHandlerOfTheirFile) {
  fill(path(), "0123");
  const OpenFile file(path(), MPI_MODE_RDONLY);
  MPI_Errhandler handler = noting();
  EXPECT_MPI(MPI_File_set_errhandler(file, handler));
  EXPECT_MPI(MPI_Errhandler_free(&handler));
  MPI_Request request = MPI_REQUEST_NULL;
  int error = MPI_File_iwrite_at(file, 0, &value_, 1, MPI_INT, &request);
  if (error == MPI_SUCCESS) error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_CLASS(MPI_ERR_READ_ONLY, error);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0], std::pair(file.get(), MPI_ERR_READ_ONLY));
}

// --- classes and messages ---------------------------------------------------------------------------------------------

TEST_F(MpiioErrors, OfDirectionsThatTheFileDoesNotHave) {
  fill(path(), "01234567");
  {
    const OpenFile file(path(), MPI_MODE_WRONLY);
    EXPECT_CLASS(MPI_ERR_ACCESS, MPI_File_read_at(file, 0, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_ACCESS, MPI_File_read_all(file, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_ACCESS, MPI_File_read_ordered(file, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
  }
  const OpenFile file(path(), MPI_MODE_RDONLY);
  EXPECT_CLASS(MPI_ERR_READ_ONLY, MPI_File_write_at(file, 0, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_CLASS(MPI_ERR_READ_ONLY, MPI_File_write_all(file, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_CLASS(MPI_ERR_READ_ONLY, MPI_File_write_shared(file, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT_EQ(content(path()), "01234567");
}

TEST_F(MpiioErrors, OfNamesAndPermissions) {
  MPI_File file = MPI_FILE_NULL;
  const auto open = [&](const std::string& name, int amode) {
    return MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file);
  };
  EXPECT_CLASS(MPI_ERR_BAD_FILE, open("", kCreate));
  EXPECT_CLASS(MPI_ERR_BAD_FILE, open(path(std::string(300, 'x')), kCreate));
  if (::geteuid() != 0) {
    fill(path("closed"), "x");
    ::chmod(path("closed").c_str(), 0);
    barrier();
    EXPECT_CLASS(MPI_ERR_ACCESS, open(path("closed"), MPI_MODE_RDONLY));
  }
  const int error = open(path("missing/deep"), kCreate);
  EXPECT_CLASS(MPI_ERR_NO_SUCH_FILE, error);
  EXPECT_NE(error_text(error).find("missing/deep"), std::string::npos) << error_text(error);
  EXPECT_NE(open(folder_.path(""), kCreate), MPI_SUCCESS);
  EXPECT_EQ(file, MPI_FILE_NULL);
}

TEST_F(MpiioErrors, NameTheFile) {
  fill(path("of_readers"), "0123");
  const OpenFile file(path("of_readers"), MPI_MODE_RDONLY);
  const int error = MPI_File_write_at(file, 0, &value_, 1, MPI_INT, MPI_STATUS_IGNORE);
  EXPECT_NE(error_text(error).find("of_readers"), std::string::npos) << error_text(error);
  const int missing = MPI_File_delete(path("not_there").c_str(), MPI_INFO_NULL);
  EXPECT_NE(error_text(missing).find("not_there"), std::string::npos) << error_text(missing);
  // The texts of other codes are those of MPI.
  EXPECT_NE(error_text(MPI_ERR_COMM), "");
  EXPECT_EQ(error_text(MPI_ERR_COMM).find("not_there"), std::string::npos);
}

TEST_F(MpiioErrors, OfHandlesThatAreNotOpen) {
  OpenFile file(path());
  const MPI_File closed = file;
  file.close();
  for (const MPI_File handle : {closed, MPI_File{MPI_FILE_NULL}}) {
    MPI_File other = handle;
    MPI_Offset offset = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Info info = MPI_INFO_NULL;
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_write_at(handle, 0, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_read_all(handle, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_iwrite(handle, &value_, 1, MPI_INT, &request));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_write_ordered(handle, &value_, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_write_all_begin(handle, &value_, 1, MPI_INT));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_write_all_end(handle, &value_, MPI_STATUS_IGNORE));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_seek(handle, 0, MPI_SEEK_SET));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_get_size(handle, &offset));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_set_view(handle, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_get_info(handle, &info));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_sync(handle));
    EXPECT_CLASS(MPI_ERR_FILE, MPI_File_close(&other));
  }
}

TEST_F(MpiioErrors, OfViews) {
  const OpenFile file(path());
  const auto set = [&](MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype, const char* representation) {
    return MPI_File_set_view(file, at, etype, filetype, representation, MPI_INFO_NULL);
  };
  EXPECT_CLASS(MPI_ERR_ARG, set(-5, MPI_INT, MPI_INT, "native"));
  EXPECT_CLASS(MPI_ERR_ARG, set(0, MPI_INT, MPI_SHORT, "native"));
  EXPECT_CLASS(MPI_ERR_TYPE, set(0, MPI_INT, MPI_DATATYPE_NULL, "native"));
  EXPECT_CLASS(MPI_ERR_TYPE, set(0, MPI_DATATYPE_NULL, MPI_INT, "native"));
  EXPECT_CLASS(MPI_ERR_UNSUPPORTED_DATAREP, set(0, MPI_INT, MPI_INT, "no such"));
  EXPECT_CLASS(MPI_ERR_ARG, set(MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native"));
  EXPECT_MPI(set(4, MPI_INT, MPI_INT, "native"));
  // Bytes that are no whole etypes.
  char bytes[8] = {};
  EXPECT_CLASS(MPI_ERR_ARG, MPI_File_write_at(file, 0, bytes, 3, MPI_BYTE, MPI_STATUS_IGNORE));
}

TEST_F(MpiioErrors, OfSplitCalls) {
  const OpenFile file(path());
  EXPECT_NE(MPI_File_write_all_end(file, &value_, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_MPI(MPI_File_write_all_begin(file, &value_, 1, MPI_INT));
  EXPECT_NE(MPI_File_write_all_begin(file, &value_, 1, MPI_INT), MPI_SUCCESS);
  EXPECT_NE(MPI_File_read_all_end(file, &value_, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_NE(MPI_File_write_at_all_end(file, &value_, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_MPI(MPI_File_write_all_end(file, &value_, MPI_STATUS_IGNORE));
}

// --- one rank only ----------------------------------------------------------------------------------------------------

// The last rank is wrong. All come back: it with the error, the others with an error or with success.
class MpiioOneWrongRank : public MpiioErrors {
 protected:
  static bool is_wrong() { return world_rank() == world_size() - 1; }

  template <class Wrong, class Right>
  static void expect_back(int error_class, Wrong&& wrong, Right&& right) {
    if (is_wrong()) {
      const int error = wrong();
      EXPECT_EQ(class_of(error), error_class) << error_text(error);
    } else {
      (void)right();
    }
    barrier();
  }

  // The file is as usable as before.
  void expect_usable(MPI_File file) {
    EXPECT_MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    const int value = world_rank();
    EXPECT_MPI(MPI_File_write_at_all(file, world_rank(), &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_MPI(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    int back = -1;
    EXPECT_MPI(MPI_File_read_at_all(file, world_rank(), &back, 1, MPI_INT, MPI_STATUS_IGNORE));
    EXPECT_EQ(back, value);
  }
};

TEST_F(MpiioOneWrongRank, InCollectiveAccessesIsNotWaitedFor) {
  const OpenFile file(path());
  EXPECT_MPI(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const auto wrong_ways = {std::pair{MPI_ERR_COUNT, 0}, std::pair{MPI_ERR_TYPE, 1}, std::pair{MPI_ERR_ARG, 2}};
  for (const auto& [error_class, way] : wrong_ways) {
    SCOPED_TRACE("way " + std::to_string(way));
    const int count = way == 0 && is_wrong() ? -1 : 1;
    const MPI_Datatype type = way == 1 && is_wrong() ? MPI_DATATYPE_NULL : MPI_INT;
    const MPI_Offset offset = way == 2 && is_wrong() ? -7 : world_rank();
    const auto write_at = [&] { return MPI_File_write_at_all(file, offset, &value_, count, type, MPI_STATUS_IGNORE); };
    expect_back(error_class, write_at, write_at);
    const auto iread_at = [&] {
      MPI_Request request = MPI_REQUEST_NULL;
      const int error = MPI_File_iread_at_all(file, offset, &value_, count, type, &request);
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
    };
    expect_back(error_class, iread_at, iread_at);
    const auto split = [&] {
      const int error = MPI_File_write_at_all_begin(file, offset, &value_, count, type);
      return error != MPI_SUCCESS ? error : MPI_File_write_at_all_end(file, &value_, MPI_STATUS_IGNORE);
    };
    expect_back(error_class, split, split);
    if (way == 2) continue;
    const auto write_all = [&] { return MPI_File_write_all(file, &value_, count, type, MPI_STATUS_IGNORE); };
    expect_back(error_class, write_all, write_all);
    const auto ordered = [&] { return MPI_File_write_ordered(file, &value_, count, type, MPI_STATUS_IGNORE); };
    expect_back(error_class, ordered, ordered);
  }
  expect_usable(file);
}

TEST_F(MpiioOneWrongRank, InViewsIsNotWaitedFor) {
  const OpenFile file(path());
  const auto set = [&](MPI_Offset displacement, MPI_Datatype filetype, const char* representation) {
    return
        [=, &file] { return MPI_File_set_view(file, displacement, MPI_INT, filetype, representation, MPI_INFO_NULL); };
  };
  const auto right = set(0, MPI_INT, "native");
  expect_back(MPI_ERR_TYPE, set(0, MPI_DATATYPE_NULL, "native"), right);
  expect_back(MPI_ERR_ARG, set(-9, MPI_INT, "native"), right);
  expect_back(MPI_ERR_ARG, set(0, MPI_CHAR, "native"), right);
  expect_back(MPI_ERR_UNSUPPORTED_DATAREP, set(0, MPI_INT, "unknown"), right);
  expect_usable(file);
}

TEST_F(MpiioOneWrongRank, InOpensIsNotWaitedFor) {
  fill(path(), "0123");
  MPI_File file = MPI_FILE_NULL;
  const auto open = [&](const char* name, int amode) {
    return [&, name, amode] { return MPI_File_open(MPI_COMM_WORLD, path(name).c_str(), amode, MPI_INFO_NULL, &file); };
  };
  const auto close = [&] {
    // Where one rank is wrong, no rank has the file.
    EXPECT_EQ(file, MPI_FILE_NULL);
    file = MPI_FILE_NULL;
  };
  const auto right = open("file", MPI_MODE_RDWR);
  if (world_size() > 1) {
    expect_back(MPI_ERR_AMODE, open("file", 0), right);
    close();
    // Amodes that differ.
    for (const int mine : {MPI_MODE_RDONLY, MPI_MODE_RDWR | MPI_MODE_APPEND}) {
      const int error = is_wrong() ? open("file", mine)() : right();
      EXPECT_CLASS(MPI_ERR_NOT_SAME, error);
      close();
    }
  }
  // An empty name, as path() would not.
  const auto empty = [&] { return MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDWR, MPI_INFO_NULL, &file); };
  expect_back(MPI_ERR_BAD_FILE, empty, right);
  close();
}

TEST_F(MpiioOneWrongRank, InCallsOnTheWholeFileIsNotWaitedFor) {
  if (world_size() == 1) return;
  fill(path(), "0123");
  const OpenFile file(path(), MPI_MODE_RDWR);
  const int mine = is_wrong() ? 1 : 0;
  EXPECT_NE(MPI_File_set_size(file, 8 + mine), MPI_SUCCESS);
  EXPECT_NE(MPI_File_preallocate(file, 80 + mine), MPI_SUCCESS);
  EXPECT_CLASS(MPI_ERR_NOT_SAME, MPI_File_seek_shared(file, mine, MPI_SEEK_SET));
  EXPECT_CLASS(MPI_ERR_NOT_SAME, MPI_File_set_atomicity(file, mine));
  EXPECT_NE(MPI_File_set_size(file, -1), MPI_SUCCESS);
  EXPECT_NE(MPI_File_preallocate(file, -1), MPI_SUCCESS);
  expect_usable(file);
}

}  // namespace
}  // namespace thalweg::test
