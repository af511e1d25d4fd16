// generate: the tokens of the library and the reference's translations, as text.
#include <gtest/gtest.h>

#include "support/fixture.h"
#include "tools/command.h"

namespace clearformer::test {
namespace {

const std::string kStories = bundled_model("stories260K");
constexpr const char* kPrompt = "Once upon a time";

TEST(Generate, TwoHundredGreedyTokensAreTheReferencesText) {
  const Fixture fixture("stories260K");
  const Case& reference = fixture.at("greedy_200");
  const Result result = run({"generate", kStories, "--prompt", reference.option("prompt").string(),
                             "--max-new-tokens", "200", "--eos-token-id", "null"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, kPrompt + reference.member("new_text").string() + "\n");
}

TEST(Generate, StreamedTextIsTheWholeText) {
  const std::vector<std::string> words{"generate",      kStories, "--prompt",         kPrompt,
                                       "--seed",        "7",      "--do-sample",      "--top-k=40",
                                       "--temperature", "0.9",    "--max-new-tokens", "60"};
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const Result streamed = run(words), whole = run(as_json);
  EXPECT_EQ(streamed.code, 0) << streamed.err;
  EXPECT_EQ(streamed.out, at(whole.json(), "texts").array().at(0).string() + "\n");
  EXPECT_EQ(streamed.out.rfind(kPrompt, 0), 0u);
  EXPECT_EQ(run(words).out, streamed.out);
  const Result named = run({"generate", kStories, "--prompt", kPrompt, "--options",
                            R"({"seed": 7, "do_sample": true, "top_k": 40, "temperature": 0.9,
                                "max_new_tokens": 60})"});
  EXPECT_EQ(named.out, streamed.out);
}

TEST(Generate, ThreadsLeaveTheTextAsItIs) {
  const std::vector<std::string> words{"generate", kStories,           "--prompt",
                                       kPrompt,    "--max-new-tokens", "40"};
  const auto with = [&](const std::string& threads) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--threads", threads});
    return run(all);
  };
  const Result alone = run(words), together = with("3");
  EXPECT_EQ(together.code, 0) << together.err;
  EXPECT_EQ(together.out, alone.out);
  for (const char* wrong : {"0", "65", "many"}) EXPECT_EQ(with(wrong).code, 2) << wrong;
}

TEST(Generate, StopStringsAndSkippedPromptsAreHonoured) {
  const Result whole = run({"generate", kStories, "--prompt", kPrompt, "--max-new-tokens", "40"});
  const Result stopped = run({"generate", kStories, "--prompt", kPrompt, "--max-new-tokens", "40",
                              "--stop-strings", "girl"});
  ASSERT_NE(whole.out.find("girl "), std::string::npos) << whole.out;
  EXPECT_EQ(stopped.out, whole.out.substr(0, whole.out.find("girl") + 4) + "\n");
  const Result skipped =
      run({"generate", kStories, "--prompt", kPrompt, "--max-new-tokens", "40", "--skip-prompt"});
  EXPECT_EQ(kPrompt + skipped.out, whole.out);
}

TEST(Generate, BeamsGiveSeveralSequencesWithScores) {
  const Result result = run({"generate", kStories, "--prompt", kPrompt, "--num-beams", "3",
                             "--num-return-sequences", "2", "--max-new-tokens", "12", "--json"});
  const Json json = result.json();
  ASSERT_EQ(at(json, "sequences").array().size(), 2u);
  const auto& scores = at(json, "sequences_scores").array();
  EXPECT_GE(scores.at(0).number(), scores.at(1).number());
}

TEST(Generate, TranslationsEqualTheReference) {
  const Fixture fixture("real_models");
  for (const char* name :
       {"translation_0_greedy", "translation_2_greedy", "translation_2_beam_4"}) {
    SCOPED_TRACE(name);
    const Case& reference = fixture.at(name);
    const std::string beams = std::to_string(*reference.option("num_beams").integer());
    const Result result =
        run({"generate", bundled_model("marian-tiny-en-fr"), "--prompt",
             reference.member("text").string(), "--num-beams", beams, "--max-new-tokens", "40"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, reference.member("translation").string() + "\n");
  }
}

TEST(Generate, WrongOptionsAreRefusedByName) {
  const Result unknown = run({"generate", kStories, "--prompt", "a", "--max-new-token", "3"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_NE(unknown.err.find("\"max_new_token\""), std::string::npos) << unknown.err;
  const Result wrong = run({"generate", kStories, "--prompt", "a", "--temperature", "cold"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("\"temperature\""), std::string::npos) << wrong.err;
  const Result beams =
      run({"generate", kStories, "--prompt", "a", "--num-beams", "2", "--stop-strings", "b"});
  EXPECT_EQ(beams.code, 1);
  EXPECT_NE(beams.err.find("stop_strings"), std::string::npos) << beams.err;
  const Result late = run({"generate", "--max-new-tokens", "3", "--prompt", "a", kStories});
  EXPECT_EQ(late.code, 1);
  EXPECT_NE(late.err.find("DIR comes before"), std::string::npos) << late.err;
  const Result sound = run({"generate", fixture_path("models/whisper/even"), "--input-ids", "1"});
  EXPECT_NE(sound.err.find("whisper reads sound"), std::string::npos) << sound.err;
  EXPECT_EQ(run({"generate", kStories, "stray"}).code, 2);
  EXPECT_EQ(run({"generate", kStories, "--prompt", "a", "--input-ids", "1"}).code, 2);
}

TEST(Generate, WithoutATokenizerIdsGoInAndOut) {
  const TemporaryFolder folder(kStories);
  std::filesystem::remove(folder.path("tokenizer.json"));
  const Result text = run({"generate", folder.path(), "--prompt", "a"});
  EXPECT_EQ(text.code, 1);
  EXPECT_NE(text.err.find("tokenizer.json"), std::string::npos);
  const Result ids =
      run({"generate", folder.path(), "--input-ids", "1,403", "--max-new-tokens", "3"});
  EXPECT_EQ(ids.code, 0) << ids.err;
  EXPECT_EQ(ids.out.rfind("1,403,", 0), 0u);
}

TEST(Generate, WeightsAreKeptInTheDtypeAskedFor) {
  const std::vector<std::string> words{"generate",    bundled_model("marian-tiny-en-fr"),
                                       "--prompt",    "I want to live in a big city.",
                                       "--num-beams", "4",
                                       "--json",      "--dtype",
                                       "fp32"};
  const Result exact = run(words);
  EXPECT_EQ(exact.code, 0) << exact.err;
  for (const char* dtype : {"fp16", "q8", "q4"}) {
    std::vector<std::string> fewer = words;
    fewer.back() = dtype;
    const Result result = run(fewer);
    EXPECT_EQ(result.code, 0) << result.err;
    // The file holds fp16; in fewer bits the scores are others.
    EXPECT_EQ(result.out == exact.out, dtype == std::string("fp16")) << dtype;
    EXPECT_EQ(at(result.json(), "texts").array().size(), 1u);
  }
  std::vector<std::string> unknown = words;
  unknown.back() = "q2";
  const Result refused = run(unknown);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("q2"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("fp32, fp16, q8, q4"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace clearformer::test
