// JSON on the way out reads back as what went in.
#include "tools/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "clearformer/weights/json.h"

namespace clearformer::tools {
namespace {

TEST(JsonWriter, StringsReadBack) {
  const std::string text = "quote \" back\\slash \n tab \t bell \a naïve 😀";
  const Json parsed = Json::parse(json_string(text), "test", ErrorCode::malformed_file);
  EXPECT_EQ(parsed.string(), text);
}

TEST(JsonWriter, NumbersReadBackOrAreNull) {
  EXPECT_EQ(json_number(0.1f), "0.1");
  EXPECT_EQ(std::stod(json_number(1.0 / 3)), 1.0 / 3);
  EXPECT_EQ(json_number(std::numeric_limits<float>::infinity()), "null");
}

TEST(JsonWriter, ObjectsHoldTheirMembersInOrder) {
  JsonObject object;
  object.text("name", "a").integer("count", 3).add("list", json_strings({"x", "y"}));
  EXPECT_EQ(object.done(), R"({"name": "a", "count": 3, "list": ["x", "y"]})");
  EXPECT_EQ(JsonObject().done(), "{}");
}

}  // namespace
}  // namespace clearformer::tools
