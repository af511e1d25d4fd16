#include "clearformer/tensor/error.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

namespace clearformer::test {
namespace {

TEST(Error, CarriesItsCodeAndMessage) {
  const Error error(ErrorCode::missing_tensor, "gone");
  EXPECT_EQ(error.code(), ErrorCode::missing_tensor);
  EXPECT_STREQ(error.what(), "gone");
}

TEST(Error, EveryCodeHasItsOwnName) {
  const ErrorCode codes[] = {
      ErrorCode::invalid_argument, ErrorCode::shape_mismatch, ErrorCode::dtype_mismatch,
      ErrorCode::out_of_memory,    ErrorCode::malformed_file, ErrorCode::malformed_config,
      ErrorCode::missing_tensor,   ErrorCode::unsupported,    ErrorCode::disposed};
  std::set<std::string_view> names;
  for (const ErrorCode code : codes) EXPECT_TRUE(names.insert(to_string(code)).second);
  EXPECT_EQ(to_string(ErrorCode::shape_mismatch), "shape_mismatch");
}

TEST(Concat, JoinsStringsAndNumbers) {
  EXPECT_EQ(concat(), "");
  EXPECT_EQ(concat("head ", 3, " of ", std::size_t{8}), "head 3 of 8");
  EXPECT_EQ(concat(std::string("a"), std::string_view("b"), -1), "ab-1");
  EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(concat(std::uint64_t{9223372036854775807}), "9223372036854775807");
  EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(concat(0.5), "0.5");
  EXPECT_EQ(concat(-1.25, " ", 3.0, " ", 0.999999999), "-1.25 3 1");
}

TEST(Fail, ThrowsTheJoinedMessage) {
  try {
    fail(ErrorCode::unsupported, "dtype ", "C64", " of ", 2);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_STREQ(error.what(), "dtype C64 of 2");
  }
}

// A name in a file may contain a NUL, which must not truncate the message.
TEST(Fail, ANulByteDoesNotCutTheMessage) {
  try {
    fail(ErrorCode::malformed_file, std::string("a\0b", 3), " is wrong");
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a b is wrong");
  }
}

}  // namespace
}  // namespace clearformer::test
