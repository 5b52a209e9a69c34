#include "base/status.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace thalweg {
namespace {

TEST(Status, OkHasNoDetail) {
  const Status ok;

  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.code(), Code::ok);
  EXPECT_EQ(ok.os_errno(), 0);
  EXPECT_EQ(ok.detail(), nullptr);
  EXPECT_TRUE(ok.with_context("opening").ok());
}

TEST(Status, AFailureKeepsWhatItWasTold) {
  const Status failure = Status::failed_call(Code::no_space, ENOSPC, "write of 5 bytes");

  EXPECT_FALSE(failure.ok());
  EXPECT_EQ(failure.code(), Code::no_space);
  EXPECT_EQ(failure.os_errno(), ENOSPC);
  EXPECT_EQ(failure.message(), "write of 5 bytes");
  EXPECT_EQ(failure.with_context("file 'x'").message(), "file 'x': write of 5 bytes");
  EXPECT_EQ(failure.with_context("file 'x'").os_errno(), ENOSPC);
}

TEST(Status, OfTheSystemSaysTheErrnoInWords) {
  EXPECT_EQ(os_error(ENOENT, "open").code(), Code::not_found);
  EXPECT_EQ(os_error(ENOENT, "open").message(), "open: No such file or directory");
  EXPECT_EQ(os_error(EDQUOT, "write").code(), Code::no_space);
  EXPECT_EQ(os_error(EROFS, "open").code(), Code::no_permission);
  EXPECT_EQ(os_error(ENOMEM, "mmap").code(), Code::no_memory);
  EXPECT_EQ(os_error(EIO, "read").code(), Code::io_error);
}

Result<int> half_of(int number) {
  if (number % 2 != 0) return Status::error(Code::invalid_argument, "odd");
  return number / 2;
}

Result<int> quarter_of(int number) {
  TW_ASSIGN_OR_RETURN(const int half, half_of(number));
  TW_ASSIGN_OR_RETURN(const int quarter, half_of(half));
  return quarter;
}

Status check_quarter(int number) {
  TW_RETURN_IF_ERROR(quarter_of(number).status());
  return {};
}

TEST(Result, CarriesAValueOrAFailure) {
  EXPECT_EQ(quarter_of(8).value(), 2);
  EXPECT_EQ(quarter_of(6).error().message(), "odd");
  EXPECT_TRUE(check_quarter(8).ok());
  EXPECT_EQ(check_quarter(6).code(), Code::invalid_argument);
}

TEST(Result, MayHoldWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(3));

  const std::unique_ptr<int> taken = std::move(result).value();

  EXPECT_EQ(*taken, 3);
}

}  // namespace
}  // namespace thalweg
