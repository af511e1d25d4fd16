#include "clearformer/weights/config_reader.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace clearformer::test {
namespace {

ConfigReader reader(std::string_view json) { return {json, "config.json"}; }

template <class Look>
void expect_refused(std::string_view json, const std::vector<std::string>& parts, Look look,
                    Place place = Place::here()) {
  std::vector<std::string> all = {"config.json"};
  all.insert(all.end(), parts.begin(), parts.end());
  expect_error(ErrorCode::malformed_config, all, [&] { look(reader(json)); }, place);
}

TEST(ConfigReader, TheTopLevelMustBeAnObject) {
  for (const char* json : {"[]", "1", "\"x\"", "null"}) {
    expect_refused(json, {"JSON object"}, [](const ConfigReader&) {});
  }
  expect_refused("{", {"not valid JSON"}, [](const ConfigReader&) {});
  expect_refused(R"({"a": 1, "a": 2})", {"\"a\"", "twice"}, [](const ConfigReader&) {});
}

TEST(ConfigReader, SizesAreWholeNumbersFromOne) {
  EXPECT_EQ(reader(R"({"n": 64})").size("n"), 64u);
  EXPECT_EQ(reader(R"({"n": 2147483647})").size("n"), 2147483647u);
  EXPECT_EQ(reader("{}").size("n", 7), 7u);
  EXPECT_EQ(reader(R"({"n": null})").size("n", 7), 7u);
  const auto look = [](const ConfigReader& config) { config.size("n"); };
  expect_refused("{}", {"\"n\"", "missing"}, look);
  expect_refused(R"({"n": null})", {"\"n\"", "is null"}, look);
  for (const char* json : {R"({"n": 0})", R"({"n": -1})", R"({"n": 1.5})", R"({"n": 64.0})",
                           R"({"n": "64"})", R"({"n": true})", R"({"n": [64]})",
                           R"({"n": 2147483648})", R"({"n": 18446744073709551615})"}) {
    SCOPED_TRACE(json);
    expect_refused(json, {"\"n\"", "whole number from 1"}, look);
    expect_refused(json, {"\"n\"", "whole number from 1"},
                   [](const ConfigReader& config) { config.size("n", 7); });
  }
}

TEST(ConfigReader, NumbersFlagsAndTexts) {
  EXPECT_EQ(reader(R"({"x": 1e-6})").number("x", 0.0), 1e-6);
  EXPECT_EQ(reader(R"({"x": 10000})").number("x", 0.0), 10000.0);
  EXPECT_EQ(reader("{}").number("x", 0.5), 0.5);
  EXPECT_TRUE(reader(R"({"f": true})").flag("f", false));
  EXPECT_TRUE(reader("{}").flag("f", true));
  EXPECT_EQ(reader(R"({"s": "silu"})").text("s"), "silu");
  EXPECT_EQ(reader("{}").text("s", "gelu"), "gelu");
  expect_refused(R"({"x": "1"})", {"\"x\"", "must be a number"},
                 [](const ConfigReader& config) { config.number("x", 0.0); });
  expect_refused(R"({"f": 1})", {"\"f\"", "true or false"},
                 [](const ConfigReader& config) { config.flag("f", false); });
  expect_refused(R"({"s": 1})", {"\"s\"", "must be a string"},
                 [](const ConfigReader& config) { config.text("s"); });
  expect_refused(R"({"s": []})", {"\"s\"", "must be a string"},
                 [](const ConfigReader& config) { config.text("s", "x"); });
  expect_refused("{}", {"\"s\"", "missing"}, [](const ConfigReader& config) { config.text("s"); });
}

TEST(ConfigReader, TokensAreOneIdOrAList) {
  EXPECT_EQ(reader(R"({"t": 0})").token("t"), 0);
  EXPECT_EQ(reader(R"({"t": null})").token("t"), std::nullopt);
  EXPECT_EQ(reader(R"({"t": 2})").tokens("t"), std::vector<std::int32_t>{2});
  EXPECT_EQ(reader(R"({"t": [2, 128001]})").tokens("t"), (std::vector<std::int32_t>{2, 128001}));
  EXPECT_TRUE(reader("{}").tokens("t").empty());
  for (const char* json :
       {R"({"t": -1})", R"({"t": 1.0})", R"({"t": "a"})", R"({"t": 2147483648})"}) {
    SCOPED_TRACE(json);
    expect_refused(json, {"\"t\"", "token id"},
                   [](const ConfigReader& config) { config.token("t"); });
    expect_refused(json, {"\"t\"", "token id"},
                   [](const ConfigReader& config) { config.tokens("t"); });
  }
  expect_refused(R"({"t": [1, -1]})", {"\"t\"", "token ids only"},
                 [](const ConfigReader& config) { config.tokens("t"); });
}

TEST(ConfigReader, NumbersMayHaveBoundsWhichBelongToThem) {
  const auto config = reader(R"({"low": 0, "high": 0.5, "below": -0.001, "above": 0.501})");
  EXPECT_EQ(config.number_in("low", 0.0, 0.5), 0.0);
  EXPECT_EQ(config.number_in("high", 0.0, 0.5), 0.5);
  for (const char* key : {"below", "above"}) {
    expect_error(ErrorCode::malformed_config, {key, "a number from 0 to 0.5"},
                 [&] { config.number_in(key, 0.0, 0.5); });
  }
}

TEST(ConfigReader, ProductsAreSizes) {
  const auto config = reader("{}");
  EXPECT_EQ(config.product("n", 3, 5), 15u);
  EXPECT_EQ(config.product("n", 1, 2147483647), 2147483647u);
  for (const std::uint64_t b : {std::uint64_t{1} << 30, (std::uint64_t{1} << 32) - 1}) {
    expect_error(ErrorCode::malformed_config, {"\"n\"", concat(2 * b), "more than 2147483647"},
                 [&] { config.product("n", 2, b); });
  }
}

TEST(ConfigReader, ListsOfTexts) {
  EXPECT_EQ(reader(R"({"t": ["a", "b"]})").texts("t"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(reader("{}").texts("t").empty());
  EXPECT_TRUE(reader(R"({"t": null})").texts("t").empty());
  const auto look = [](const ConfigReader& config) { config.texts("t"); };
  expect_refused(R"({"t": "a"})", {"\"t\"", "list of strings"}, look);
  expect_refused(R"({"t": ["a", 1]})", {"\"t\"", "strings only"}, look);
}

TEST(ConfigReader, RowsCountFromEitherEnd) {
  const auto row = [](const char* value) {
    return reader(concat("{\"row\": ", value, "}")).row("row", 3);
  };
  EXPECT_EQ(row("0"), 0);
  EXPECT_EQ(row("2"), 2);
  EXPECT_EQ(row("-1"), 2);
  EXPECT_EQ(row("-3"), 0);
  for (const char* none : {"3", "-4", "4294967296", "-4294967296", "1.5", "\"1\"", "null"}) {
    EXPECT_EQ(row(none), std::nullopt) << none;
  }
  EXPECT_EQ(reader("{}").row("row", 3), std::nullopt);
}

TEST(ConfigReader, OneMemberCanBeLeftOut) {
  const auto config = reader(R"({"a": 1, "b": 2, "c": 3})").without("b");
  EXPECT_FALSE(config.knows("b"));
  EXPECT_EQ(config.size("a") + config.size("c"), 4u);
}

TEST(ConfigReader, InnerObjectsNameTheirPlace) {
  const auto config = reader(R"({"rope": {"factor": "x"}, "none": null, "list": []})");
  EXPECT_FALSE(config.object("none"));
  EXPECT_FALSE(config.object("absent"));
  expect_error(ErrorCode::malformed_config, {"config.json", "\"rope\"", "\"factor\"", "number"},
               [&] { config.object("rope")->number("factor", 1.0); });
  expect_error(ErrorCode::malformed_config, {"config.json", "\"list\"", "must be an object"},
               [&] { config.object("list"); });
}

TEST(ConfigReader, WhatACallerWroteIsAnInvalidArgument) {
  expect_error(ErrorCode::invalid_argument, {"generate", "\"n\""}, [] {
    ConfigReader(R"({"n": 0})", "generate", ErrorCode::invalid_argument).size("n");
  });
  expect_error(ErrorCode::invalid_argument, {"generate"},
               [] { ConfigReader("[", "generate", ErrorCode::invalid_argument); });
}

}  // namespace
}  // namespace clearformer::test
