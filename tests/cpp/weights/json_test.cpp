#include "clearformer/weights/json.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace clearformer::test {
namespace {

Json parse_json(std::string_view text) {
  return Json::parse(text, "config.json", ErrorCode::malformed_config);
}

void expect_refused(std::string_view text, const std::vector<std::string>& parts,
                    Place place = Place::here()) {
  std::vector<std::string> all = {"config.json", "not valid JSON at byte "};
  all.insert(all.end(), parts.begin(), parts.end());
  expect_error(ErrorCode::malformed_config, all, [&] { parse_json(text); }, place);
}

TEST(Json, ReadsEveryKindOfValue) {
  const Json json = parse_json(R"( {"n": null, "t": true, "i": -3, "u": 18446744073709551615,
      "d": 1.5e1, "s": "a\u00e9\n", "a": [1, [], {}], "o": {"k": "v"}} )");
  EXPECT_TRUE(json.find("n")->is_null());
  EXPECT_TRUE(json.find("t")->boolean());
  EXPECT_EQ(json.find("i")->integer(), -3);
  EXPECT_EQ(json.find("u")->unsigned_integer(), 18446744073709551615u);
  EXPECT_EQ(json.find("d")->number(), 15.0);
  EXPECT_EQ(json.find("s")->string(), "a\xc3\xa9\n");
  EXPECT_EQ(json.find("a")->array().size(), 3u);
  EXPECT_EQ(json.find("o")->find("k")->string(), "v");
  EXPECT_EQ(json.find("absent"), nullptr);
  EXPECT_EQ(json.find("i")->find("k"), nullptr);
  EXPECT_EQ(json.find_set("n"), nullptr);
  EXPECT_NE(json.find_set("t"), nullptr);
}

TEST(Json, KeepsIntegersApartFromFractions) {
  EXPECT_EQ(parse_json("-1").unsigned_integer(), std::nullopt);
  EXPECT_EQ(parse_json("0").unsigned_integer(), 0u);
  EXPECT_EQ(parse_json("1.0").unsigned_integer(), std::nullopt);
  EXPECT_EQ(parse_json("1e2").unsigned_integer(), std::nullopt);
  EXPECT_EQ(parse_json("9223372036854775807").integer(), 9223372036854775807);
  EXPECT_EQ(parse_json("9223372036854775808").integer(), std::nullopt);
  EXPECT_EQ(parse_json("18446744073709551616").unsigned_integer(), std::nullopt);
  EXPECT_EQ(parse_json("\"1\"").unsigned_integer(), std::nullopt);
  EXPECT_TRUE(parse_json("18446744073709551616").is_number());
  EXPECT_FALSE(parse_json("1.5").is_integer());
}

TEST(Json, FractionsOfFewDigitsAreExact) {
  EXPECT_EQ(parse_json("1e-6").number(), 1e-6);
  EXPECT_EQ(parse_json("1e-05").number(), 1e-05);
  EXPECT_EQ(parse_json("0.8").number(), 0.8);
  EXPECT_EQ(parse_json("500000.0").number(), 500000.0);
  EXPECT_EQ(parse_json("0.123456789012345").number(), 0.123456789012345);
  EXPECT_EQ(parse_json("-2.5e+3").number(), -2500.0);
}

TEST(Json, ZerosInEverySpellingAreZero) {
  for (const char* text :
       {"0", "-0", "0.0", "0e0", "0e-30", "0E300", "0.000000000000000000000000e-99",
        "0.00000000000000000000000000000000000000000000000000000000", "-0.0e5"}) {
    EXPECT_EQ(parse_json(text).number(), 0.0) << text;
  }
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text :
       {"",     " ",           "{",       "[1, 2",      "{\"a\": }", "{\"a\" 1}", "{a: 1}",
        "[1,]", "{\"a\": 1,}", "nul",     "01",         "+1",        ".5",        "1.",
        "NaN",  "Infinity",    "'a'",     "\"a",        "\"\\x\"",   "\"\t\"",    "{} {}",
        "{}x",  "1 2",         "// c\n1", "\"\\ud800\""}) {
    SCOPED_TRACE(text);
    expect_refused(text, {});
  }
}

TEST(Json, RefusesABrokenEncoding) {
  for (const char* text : {"\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"",
                           "\"\xf5\x80\x80\x80\"", "\"\xe2\x82\"", "{\"\x80\": 1}"}) {
    SCOPED_TRACE(text);
    expect_refused(text, {});
  }
  EXPECT_EQ(parse_json("\"\xf0\x9f\x98\x80\"").string(), "\xf0\x9f\x98\x80");
}

TEST(Json, RefusesWhatFollowsANulByte) {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {"{}\0"sv, "{}\0{\"a\": 1}"sv, "{\"a\": 1\0}"sv, "\0{}"sv, "\"a\0b\""sv}) {
    expect_refused(text, {});
  }
}

TEST(Json, RefusesAKeyThatAppearsTwice) {
  expect_refused(R"({"a": 1, "b": 2, "a": 3})", {"\"a\"", "twice"});
  expect_refused(R"({"a": 1, "\u0061": 3})", {"\"a\"", "twice"});
  expect_refused(R"([{"x": {"k": 1, "k": 1}}])", {"\"k\"", "twice"});
  EXPECT_EQ(parse_json(R"({"a": {"a": 1}, "b": {"a": 2}})").object().size(), 2u);
}

TEST(Json, RefusesHalvesOfSurrogatePairs) {
  for (const char* half :
       {"\\ude00", "\\udc00", "\\udfff", "\\ud800", "\\ud83d x", "\\ud83d\\u0041"}) {
    expect_refused(concat("\"", half, "\""), {});
    expect_refused(concat("{\"", half, "\": 1}"), {});
    expect_refused(concat("[\"a", half, "b\"]"), {});
  }
  EXPECT_EQ(parse_json(R"("\ud83d\ude00 \ud7ff\ue000")").string(),
            "\xf0\x9f\x98\x80 \xed\x9f\xbf\xee\x80\x80");
}

TEST(Json, IsCopiedWhole) {
  const Json json = parse_json(R"({"a": [1, {"b": "a text that is not short at all"}], "c": 2.5})");
  Json copy = json;
  EXPECT_EQ(copy.find("a")->array()[1].find("b")->string(), "a text that is not short at all");
  copy = *json.find("a");
  EXPECT_EQ(copy.array()[0].integer(), 1);
  copy = Json(copy.array()[1]);
  EXPECT_EQ(copy.object().size(), 1u);
}

TEST(Json, BoundsTheDepth) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(parse_json(nested(64)).is_array());
  expect_refused(nested(65), {"nested deeper than 64 levels"});
  expect_refused(std::string(1'000'000, '['), {"nested deeper"});
  std::string objects;
  for (int level = 0; level < 65; ++level) objects += "{\"k\":";
  expect_refused(objects, {"nested deeper"});
}

TEST(Json, ThrowsTheCodeItIsGiven) {
  expect_error(ErrorCode::malformed_file, {"index.json", "byte"},
               [] { Json::parse("{", "index.json", ErrorCode::malformed_file); });
}

}  // namespace
}  // namespace clearformer::test
