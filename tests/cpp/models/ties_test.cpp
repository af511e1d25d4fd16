// Tied tensors of a checkpoint: how transformers 5 treats a file that contains both.
#include "clearformer/loading/ties.h"

#include <gtest/gtest.h>

#include "clearformer/architectures/architecture.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

struct File {
  Weights weights;
  ModelConfig config;

  File(const char* type, Task task, const std::vector<std::pair<const char*, float>>& tensors) {
    const ConfigReader reader(concat("{\"model_type\": \"", type, "\"}"), "config.json");
    config = read_model_config(reader, task);
    for (const auto& [name, value] : tensors) {
      Tensor tensor = Tensor::zeros({2, 3});
      tensor.f32()[5] = value;
      weights.add(name, "model.safetensors", std::move(tensor));
    }
    settle_ties(config, weights, architecture_of(reader).names(weights, config));
  }
};

TEST(Ties, ARepeatedTableIsKeptOnce) {
  const File file("llama", Task::causal_lm,
                  {{"model.embed_tokens.weight", 1.0f}, {"lm_head.weight", 1.0f}});
  EXPECT_FALSE(file.config.tied);  // Llama's class ties nothing by default
  const File gemma("gemma2", Task::causal_lm,
                   {{"model.embed_tokens.weight", 1.0f}, {"lm_head.weight", 1.0f}});
  EXPECT_TRUE(gemma.config.tied);
  EXPECT_EQ(gemma.weights.names(), std::vector<std::string>{"model.embed_tokens.weight"});
}

TEST(Ties, AnOutputLayerOfItsOwnIsUsed) {
  const std::pair<const char*, Task> types[] = {
      {"gpt2", Task::causal_lm}, {"gpt_neo", Task::causal_lm}, {"gemma2", Task::causal_lm}};
  for (const auto& [type, task] : types) {
    const bool gpt = std::string_view(type).starts_with("gpt");
    const File file(type, task,
                    {{gpt ? "transformer.wte.weight" : "model.embed_tokens.weight", 1.0f},
                     {"lm_head.weight", 2.0f}});
    EXPECT_FALSE(file.config.tied) << type;
    EXPECT_EQ(file.weights.names().size(), 2u);
  }
  const File t5("t5", Task::seq2seq_lm, {{"shared.weight", 1.0f}, {"lm_head.weight", 2.0f}});
  EXPECT_FALSE(t5.config.tied);
  const File masked("modernbert", Task::masked_lm,
                    {{"model.embeddings.tok_embeddings.weight", 1.0f}, {"decoder.weight", 2.0f}});
  EXPECT_FALSE(masked.config.tied);
}

TEST(Ties, TheTableIsFoundUnderTheOtherName) {
  const File file("gpt2", Task::causal_lm, {{"lm_head.weight", 1.0f}});
  EXPECT_EQ(file.weights.names(), std::vector<std::string>{"wte.weight"});
  const File bart(
      "bart", Task::seq2seq_lm,
      {{"model.decoder.embed_tokens.weight", 1.0f}, {"model.encoder.embed_tokens.weight", 1.0f}});
  EXPECT_EQ(bart.weights.names(), std::vector<std::string>{"model.shared.weight"});
}

TEST(Ties, TheBiasThatIsAddedIsTheOutputLayersOwn) {
  const File one("bert", Task::masked_lm, {{"cls.predictions.bias", 1.0f}});
  EXPECT_EQ(one.weights.names(), std::vector<std::string>{"cls.predictions.decoder.bias"});
  const File both("roberta", Task::masked_lm,
                  {{"lm_head.bias", 1.0f}, {"lm_head.decoder.bias", 2.0f}});
  EXPECT_EQ(both.weights.names().size(), 2u);  // one is used, the other reported
}

TEST(Ties, ABaseModelLeavesAnOutputLayerAlone) {
  const File file("gemma2", Task::base,
                  {{"model.embed_tokens.weight", 1.0f}, {"lm_head.weight", 1.0f}});
  EXPECT_EQ(file.weights.names().size(), 2u);
}

TEST(Ties, TablesOfWordsThatShouldBeOneAndDifferAreRefused) {
  expect_error(ErrorCode::unsupported, {"decoder.embed_tokens.weight", "shared.weight"}, [] {
    File("bart", Task::seq2seq_lm,
         {{"model.shared.weight", 1.0f}, {"model.decoder.embed_tokens.weight", 2.0f}});
  });
}

}  // namespace
}  // namespace clearformer::test
