// The meaning of single keys of config.json for each model type, according to transformers.
#include <gtest/gtest.h>

#include <cmath>

#include "clearformer/architectures/architecture.h"
#include "support/expect_error.h"

namespace clearformer::test {
namespace {

using Attends = TowerConfig::Attends;

ModelConfig meant(const std::string& type, const std::string& keys = "",
                  std::optional<Task> task = std::nullopt) {
  const std::string text =
      concat("{\"model_type\": \"", type, "\"", keys.empty() ? "" : ", ", keys, "}");
  return read_model_config(ConfigReader(text, "config.json"), task);
}

// Since transformers 5.2, except for GPT-Neo, whose attention has a mask of its own.
TEST(KeyMeanings, IsCausalFalseLetsDecodersSeeAhead) {
  for (const char* type : {"gpt2", "llama", "mistral", "qwen2", "qwen3", "phi", "phi3", "gemma2",
                           "gemma3_text", "bart", "marian", "t5", "whisper"}) {
    SCOPED_TRACE(type);
    EXPECT_EQ(meant(type).main().attends, Attends::to_the_past);
    EXPECT_EQ(meant(type, R"("is_causal": false)").main().attends, Attends::to_all);
  }
  EXPECT_EQ(meant("gpt_neo", R"("is_causal": false)").main().attends, Attends::to_the_past);
  for (const char* type : {"bert", "modernbert", "vit"}) {
    expect_error(ErrorCode::unsupported, {"\"is_causal\""},
                 [&] { meant(type, R"("is_causal": true)"); });
  }
}

TEST(KeyMeanings, WindowsOfModelsThatSeeAheadReachBothWays) {
  const TowerConfig causal = meant("mistral", R"("sliding_window": 5)").tower;
  EXPECT_EQ(causal.window_before, 4u);
  EXPECT_EQ(causal.stack.mixers.front(), Mixer::local);
  const TowerConfig both = meant("mistral", R"("sliding_window": 5, "is_causal": false)").tower;
  EXPECT_EQ(both.window_before, 5u);
  EXPECT_EQ(both.window_after, 5u);
  EXPECT_EQ(meant("mistral").tower.window_before, 4095u);
  EXPECT_TRUE(meant("mistral", R"("sliding_window": null)").tower.stack.mixers.empty());
}

TEST(KeyMeanings, Gemma3SeesBothWaysWithHalfItsWindow) {
  const TowerConfig tower =
      meant("gemma3_text", R"("use_bidirectional_attention": true, "sliding_window": 512)").tower;
  EXPECT_EQ(tower.attends, Attends::to_all);
  EXPECT_EQ(tower.window_before, 256u);
  EXPECT_EQ(tower.window_after, 256u);
  expect_error(ErrorCode::unsupported, {"\"use_bidirectional_attention\""},
               [] { meant("gemma2", R"("use_bidirectional_attention": true)"); });
}

TEST(KeyMeanings, NumLabelsCountsClassesAlsoBesideOtherNames) {
  const auto classes = [](const char* keys) {
    return meant("bert", keys, Task::sequence_classification).head->outputs;
  };
  EXPECT_EQ(classes(""), 2u);
  EXPECT_EQ(classes(R"("num_labels": 7)"), 7u);
  EXPECT_EQ(classes(R"("id2label": {"0": "a", "1": "b", "2": "c"})"), 3u);
  EXPECT_EQ(classes(R"("id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": null)"), 3u);
  EXPECT_EQ(classes(R"("id2label": {"0": "a", "1": "b", "2": "c"}, "num_labels": 7)"), 7u);
}

TEST(KeyMeanings, KeysThatAFamilyIgnores) {
  EXPECT_EQ(
      meant("gemma3_text", R"("attn_logit_softcapping": 5.0)").tower.stack.block.attention.softcap,
      0.0f);
  EXPECT_EQ(meant("whisper", R"("scale_embedding": true)").second->text->scale, 1.0f);
  EXPECT_EQ(meant("distilbert", R"("layer_norm_eps": 0.1)").tower.stack.block.norm.eps, 1e-12);
  EXPECT_EQ(meant("llama", R"("partial_rotary_factor": 0.5)").tower.rotary->rotary_dim, 128u);
  for (const char* type : {"mistral", "phi3", "qwen2"}) {
    const BlockConfig block =
        meant(type, R"("attention_bias": true, "mlp_bias": true)").tower.stack.block;
    EXPECT_EQ(block.attention.bias.output, Bias::none) << type;
    EXPECT_EQ(block.feed_forward.bias, Bias::none) << type;
  }
}

// For such a config AutoModel uses another class than the one it names.
TEST(KeyMeanings, MistralsLayerTypesMustSayWhatItsWindowSays) {
  meant("mistral", R"("layer_types": ["sliding_attention", "sliding_attention"])");
  meant("mistral", R"("layer_types": ["full_attention"], "sliding_window": null)");
  expect_error(ErrorCode::unsupported, {"\"layer_types\"", "full_attention"},
               [] { meant("mistral", R"("layer_types": ["full_attention"])"); });
}

TEST(KeyMeanings, SizesAndNumbersThatAreMissing) {
  EXPECT_EQ(meant("qwen3").tower.stack.block.attention.d_head, 128u);
  EXPECT_EQ(meant("phi3").tower.stack.block.norm.eps, 1e-5);
  EXPECT_EQ(meant("roberta").tower.stack.block.norm.eps, 1e-12);
  EXPECT_EQ(meant("gemma3", R"("text_config": {"hidden_size": 64})")
                .tower.stack.block.attention.num_heads,
            8u);
  const ModelConfig clip = meant("clip", R"("text_config": {}, "vision_config": {})");
  EXPECT_EQ(clip.second->d_model(), 768u);
  EXPECT_EQ(clip.pooled_token_id, 49407);
}

TEST(KeyMeanings, ClipsOlderSpellingsOfItsPartsCountFirst) {
  const ModelConfig clip =
      meant("clip", R"("text_config": {"num_hidden_layers": 3, "hidden_size": 64},
      "text_config_dict": {"num_hidden_layers": 4})");
  EXPECT_EQ(clip.tower.stack.layers, 4u);
  EXPECT_EQ(clip.tower.d_model(), 512u);
}

TEST(KeyMeanings, T5ScalesItsOutputAsEitherSpellingSays) {
  const float scaled = 1.0f / std::sqrt(512.0f);
  EXPECT_EQ(meant("t5").output.scale, scaled);
  EXPECT_EQ(meant("t5", R"("tie_word_embeddings": false)").output.scale, 1.0f);
  const ModelConfig both =
      meant("t5", R"("tie_word_embeddings": true, "scale_decoder_outputs": false)");
  EXPECT_EQ(both.output.scale, 1.0f);
  EXPECT_TRUE(both.tied);
  EXPECT_EQ(meant("t5", R"("scale_decoder_outputs": null)").output.scale, 1.0f);
  EXPECT_EQ(meant("t5", R"("tie_word_embeddings": null)").output.scale, scaled);
}

TEST(KeyMeanings, T5sActivationIsTheOneItsClassSaved) {
  EXPECT_EQ(meant("t5", R"("feed_forward_proj": "gated-gelu")").activation, "gelu_new");
  EXPECT_EQ(meant("t5", R"("feed_forward_proj": "gelu")").activation, "gelu");
  const ModelConfig model = meant(
      "t5", R"("feed_forward_proj": "gated-gelu", "dense_act_fn": "silu", "is_gated_act": false)");
  EXPECT_EQ(model.activation, "silu");
  EXPECT_EQ(model.tower.stack.block.feed_forward.gate, Gate::none);
}

TEST(KeyMeanings, ModernBertsOlderSpellings) {
  EXPECT_EQ(meant("modernbert", R"("local_attention": 10, "sliding_window": 3)").tower.window_after,
            3u);
  const TowerConfig tower =
      meant("modernbert", R"("rope_scaling": {"rope_type": "linear", "factor": 2},
      "rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 500},
                          "sliding_attention": {"rope_theta": 400}})")
          .tower;
  EXPECT_EQ(tower.rotary->base, 500.0);
  EXPECT_EQ(tower.rotary->scaling.factor, 2.0);
  EXPECT_EQ(tower.local_rotary->base, 400.0);
}

TEST(KeyMeanings, PhisRotatedPart) {
  EXPECT_EQ(meant("phi").tower.rotary->rotary_dim, 32u);
  EXPECT_EQ(
      meant("phi", R"("partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "default",
      "rope_theta": 10000.0, "partial_rotary_factor": 0.25})")
          .tower.rotary->rotary_dim,
      16u);
  EXPECT_EQ(meant("phi3", R"("rope_scaling": {"rope_type": "default"})").tower.rotary->rotary_dim,
            96u);
}

TEST(KeyMeanings, RotaryPositionsGoOnBehindTheTrainedOnes) {
  EXPECT_GT(meant("llama", R"("max_position_embeddings": 16)").longest(), 1000u);
  EXPECT_EQ(meant("llama", R"("max_position_embeddings": 16)").n_ctx(), 16u);
  EXPECT_EQ(meant("gpt2", R"("n_positions": 16)").longest(), 16u);
}

TEST(KeyMeanings, ValuesThatAreNotSupportedAreRefusedByName) {
  for (const char* type : {"bert", "distilbert", "roberta"}) {
    meant(type, R"("position_embedding_type": "absolute", "is_decoder": null)");
    for (const char* value : {"\"relative_key\"", "true", "1"}) {
      expect_error(ErrorCode::unsupported, {"\"position_embedding_type\""},
                   [&] { meant(type, concat("\"position_embedding_type\": ", value)); });
    }
    expect_error(ErrorCode::unsupported, {"\"position_embedding_type\"", ": \"alibi\""},
                 [&] { meant(type, R"("position_embedding_type": "alibi")"); });
  }
  meant("modernbert", R"("classifier_pooling": "mean")", Task::sequence_classification);
  expect_error(ErrorCode::unsupported, {"\"classifier_pooling\"", "\"max\""}, [] {
    meant("modernbert", R"("classifier_pooling": "max")", Task::sequence_classification);
  });
  expect_error(
      ErrorCode::malformed_config, {"\"layer_types\"", "sliding_attention", "use_sliding_window"},
      [] { meant("qwen2", R"("num_hidden_layers": 1, "layer_types": ["sliding_attention"])"); });
}

TEST(KeyMeanings, ExtentsOfImagesAreANumberOrTwo) {
  meant("vit", R"("image_size": [32, 64], "patch_size": 16)");
  for (const char* size : {"[]", "[32]", "[32, 32, 32]", "[0, 32]", "[32, 1e7]", "\"32\""}) {
    expect_error(ErrorCode::malformed_config, {"\"image_size\""},
                 [&] { meant("vit", concat("\"image_size\": ", size)); });
  }
}

TEST(KeyMeanings, TasksAreNamedAsPipelinesToo) {
  EXPECT_EQ(task_named("fill-mask"), Task::masked_lm);
  EXPECT_EQ(to_string(task_named("text-classification")), to_string(Task::sequence_classification));
  expect_error(ErrorCode::unsupported, {"\"object-detection\"", "supported:", "fill-mask"},
               [] { task_named("object-detection"); });
}

TEST(KeyMeanings, UntiedTablesOfAnEncoderDecoderAreThree) {
  EXPECT_FALSE(meant("bart").own_target_embedding);
  EXPECT_TRUE(meant("bart", R"("tie_word_embeddings": false)").own_target_embedding);
  EXPECT_TRUE(meant("marian", R"("share_encoder_decoder_embeddings": false)").own_target_embedding);
}

}  // namespace
}  // namespace clearformer::test
