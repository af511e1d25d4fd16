// The tables of config keys against transformers' own config classes.
#include <gtest/gtest.h>

#include <algorithm>

#include "clearformer/architectures/key_table.h"
#include "clearformer/architectures/known.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/json_text.h"

namespace clearformer::test {
namespace {

const Json& classes() {
  static const Json all = *Json::parse(read_bytes(fixture_path("config_keys/classes.json")),
                                       "classes.json", ErrorCode::malformed_file)
                               .find("classes");
  return all;
}

Json::Object members(std::string_view text) {
  return Json::parse(concat("{", text, "}"), "table", ErrorCode::malformed_file).object();
}

// Fields without influence on a forward pass of the supported tasks: for training, generation,
// outputs and unsupported heads.
constexpr std::string_view kWithoutMeaning[] = {
    "transformers_version", "architectures", "output_hidden_states", "return_dict", "dtype",
    "chunk_size_feed_forward", "is_encoder_decoder", "id2label", "label2id", "problem_type",
    "use_cache", "initializer_range", "initializer_cutoff_factor", "initializer_factor", "init_std",
    "logit_scale_init_value", "hidden_dropout_prob", "attention_probs_dropout_prob",
    "classifier_dropout", "dropout", "attention_dropout", "activation_dropout", "qa_dropout",
    "seq_classif_dropout", "embedding_dropout", "mlp_dropout", "resid_pdrop", "embd_pdrop",
    "emb_pdrop", "expansion_ratio", "learned_pos_emb", "init_device", "logit_scale", "no_bias",
    "embedding_fraction", "norm_type", "attn_type", "attn_impl", "prefix_lm", "qk_ln",
    "attn_uses_sequence_id", "alibi", "alibi_bias_max", "attn_pdrop", "hidden_dropout", "n_ctx",
    "resid_dropout", "embed_dropout", "dropout_rate", "encoder_layerdrop", "decoder_layerdrop",
    "pretraining_tp", "forced_eos_token_id", "suppress_tokens", "begin_suppress_tokens",
    "encoder_no_repeat_ngram_size", "summary_type", "summary_use_proj", "summary_activation",
    "summary_proj_to_labels", "summary_first_dropout", "summary_last_dropout",
    "classifier_dropout_prob", "pooler_dropout", "reorder_and_upcast_attn",
    "deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index", "cls_token_id",
    "layerdrop", "residual_dropout", "sep_token_id", "encoder_stride", "use_weighted_layer_sum",
    "classifier_proj_size", "apply_spec_augment", "mask_time_prob", "mask_time_length",
    "mask_time_min_masks", "mask_feature_prob", "mask_feature_length", "mask_feature_min_masks",
    "median_filter_width",
    // Read by transformers' config classes and by none of their models.
    "sinusoidal_pos_embds", "is_decoder", "attn_logit_softcapping", "scale_embedding",
    // Gemma 3's images, CLIP's towers by themselves.
    "vision_config", "mm_tokens_per_image", "boi_token_index", "eoi_token_index",
    "image_token_index", "projection_dim",
    // Qwen3.5's images and films.
    "image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id",
    // DINOv2's and DINOv3's pre-training, their feature maps for other models.
    "layerscale_value", "drop_path_rate", "apply_layernorm", "reshape_hidden_states",
    "use_mask_token", "pos_embed_shift", "pos_embed_jitter", "pos_embed_rescale",
    // How GPT-BigCode's half-precision softmax rounds; the token that EuroBERT's tokenizer masks with.
    "attention_softmax_in_fp32", "scale_attention_softmax_in_fp32", "mask_token_id",
    // Of Granite's recurrent layers and experts, which are refused.
    "mamba_n_heads", "mamba_n_groups", "mamba_d_state", "mamba_d_head", "mamba_d_conv",
    "mamba_expand", "mamba_chunk_size", "mamba_conv_bias", "mamba_proj_bias", "time_step_min",
    "time_step_max", "time_step_limit",
    // A token that Hunyuan's tokenizer puts between documents.
    "eod_token_id",
    // Of ESMFold, which is refused.
    "esmfold_config", "vocab_list",
    // Of encoders of samples: training and its losses, and parts that are refused or of other heads.
    "feat_proj_dropout", "feat_quantizer_dropout", "final_dropout", "num_codevectors_per_group",
    "num_codevector_groups", "contrastive_logits_temperature", "num_negatives", "codevector_dim",
    "proj_codevector_dim", "diversity_loss_weight", "ctc_loss_reduction", "ctc_zero_infinity",
    "tdnn_dim", "tdnn_kernel", "tdnn_dilation", "xvector_output_dim", "adapter_kernel_size",
    "adapter_stride", "num_adapter_layers", "output_hidden_size",
    // Of mixtures of experts: noise and loss while they are trained.
    "router_jitter_noise", "router_aux_loss_coef"};

struct Table {
  std::string name;  // of the class in classes.json
  const KeyTable* keys;
};

// The table's own fields and those that it shares.
Json::Object fields_of(const KeyTable& table) {
  Json::Object all = members(table.fields);
  for (auto& member : members(table.shared_fields)) all.push_back(std::move(member));
  return all;
}

std::vector<Table> tables() {
  std::vector<Table> all = {{"clip_text_model", &kClipTextKeys},
                            {"clip_vision_model", &kClipVisionKeys},
                            {"mpt_attention", &kMptAttentionKeys},
                            {"siglip_text_model", &kSiglipTextKeys},
                            {"siglip_vision_model", &kSiglipVisionKeys}};
  for (const Architecture* architecture : kKnown) {
    if (architecture->model_type == "nn_transformer") continue;  // not a class of transformers
    all.push_back({std::string(architecture->model_type), &architecture->keys});
  }
  return all;
}

// Compares numbers by value: 1e-6 and 0.000001, 10000 and 10000.0.
bool same(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.number() == b.number();
  return json_text(a) == json_text(b);
}

TEST(KeyTables, FieldsAndDefaultsAreThoseOfTransformersClasses) {
  for (const Table& table : tables()) {
    SCOPED_TRACE(table.name);
    const Json* known = classes().find(table.name);
    ASSERT_NE(known, nullptr);
    const Json& fields = *known->find("keys");
    for (const auto& [key, usual] : fields_of(*table.keys)) {
      const Json* theirs = fields.find(key);
      if (theirs == nullptr) {
        ADD_FAILURE() << key << " is no field of the class";
        continue;
      }
      EXPECT_TRUE(same(*theirs, usual))
          << key << ": " << json_text(*theirs) << ", here " << json_text(usual);
    }
    for (const std::string_view group : {table.keys->others, table.keys->since_5_2}) {
      for (const auto& [key, usual] : members(group)) {
        EXPECT_EQ(fields.find(key), nullptr) << key << " is a field";
      }
    }
  }
}

TEST(KeyTables, EveryFieldIsReadOrRefusedOrWithoutMeaning) {
  for (const Table& table : tables()) {
    SCOPED_TRACE(table.name);
    const Json::Object read = fields_of(*table.keys), neutral = members(table.keys->neutral);
    const auto in = [](const Json::Object& object, const std::string& key) {
      return std::any_of(object.begin(), object.end(),
                         [&](const auto& member) { return member.first == key; });
    };
    for (const auto& [key, usual] : classes().find(table.name)->find("keys")->object()) {
      const bool idle = std::find(std::begin(kWithoutMeaning), std::end(kWithoutMeaning), key) !=
                        std::end(kWithoutMeaning);
      // Of a whole Qwen3.5, whose text model has its own.
      const bool outer = table.name == "qwen3_5" && key == "tie_word_embeddings";
      EXPECT_TRUE(in(read, key) || in(neutral, key) || idle || outer) << key;
    }
  }
}

TEST(KeyTables, OtherNamesAreThoseOfTransformersClasses) {
  for (const Table& table : tables()) {
    if (table.name == "gemma3") continue;  // for its image tokens
    SCOPED_TRACE(table.name);
    const Json::Object theirs = classes().find(table.name)->find("other_names")->object();
    const Json::Object ours = members(table.keys->other_names);
    EXPECT_EQ(ours.size(), theirs.size());
    for (auto [name, key] : ours) {
      // Qwen3 MoE's class calls the name of its field the other one, and what is not a field counts first.
      const Json& fields = *classes().find(table.name)->find("keys");
      const bool is_turned = classes().find(table.name)->find("other_names")->find(name) == nullptr;
      if (is_turned) {
        EXPECT_NE(fields.find(key.string()), nullptr);
        EXPECT_EQ(fields.find(name), nullptr);
        const std::string field = key.string();
        key = Json(name);
        name = field;
      }
      const Json* same_name = classes().find(table.name)->find("other_names")->find(name);
      ASSERT_NE(same_name, nullptr) << name;
      EXPECT_EQ(same_name->string(), key.string());
    }
  }
}

TEST(KeyTables, DefaultsFillInAndOtherNamesCountFirst) {
  constexpr KeyTable kTable{.fields = R"("width":8,"depth":2,"cap":30)",
                            .neutral = R"("odd":false)",
                            .other_names = R"("hidden_size":"width")"};
  const auto read = [&](const char* text) {
    return declared(ConfigReader(text, "config.json"), kTable);
  };
  EXPECT_EQ(read("{}").size("width"), 8u);
  EXPECT_EQ(read(R"({"width": 3, "hidden_size": 5})").size("width"), 5u);
  EXPECT_FALSE(read(R"({"cap": null})").is_set("cap"));
  EXPECT_EQ(read(R"({"odd": false, "unheard_of": 7})").size("depth"), 2u);
  expect_error(ErrorCode::unsupported, {"config.json", "\"odd\""},
               [&] { read(R"({"odd": true})"); });
}

// This keeps one family from reading another's keys.
TEST(KeyTables, AKeyThatATableLacksCannotBeRead) {
  constexpr KeyTable kTable{.fields = R"("width":8)"};
  const ConfigReader reader =
      declared(ConfigReader(R"({"mlp_bias": true})", "config.json"), kTable);
  expect_error(ErrorCode::invalid_argument, {"\"mlp_bias\"", "table"},
               [&] { reader.flag("mlp_bias"); });
  expect_error(ErrorCode::invalid_argument, {"\"mlp_bias\""},
               [&] { reader.flag("mlp_bias", true); });
}

TEST(KeyTables, EveryArchitectureReadsItsOwnKeysOnly) {
  for (const Architecture* architecture : kKnown) {
    for (const Task task :
         {Task::base, Task::masked_lm, Task::sequence_classification, Task::token_classification,
          Task::question_answering, Task::replaced_token_detection, Task::causal_lm,
          Task::seq2seq_lm, Task::image_classification}) {
      // Of which the class has no default.
      const bool esm = architecture->model_type == "esm";
      const std::string text = concat("{\"model_type\": \"", architecture->model_type,
                                      "\", \"src_vocab_size\": 9, \"tgt_vocab_size\": 9",
                                      esm ? ", \"vocab_size\": 33, \"pad_token_id\": 1}" : "}");
      SCOPED_TRACE(concat(text, " ", to_string(task)));
      try {
        const ModelConfig config = read_model_config(ConfigReader(text, "config.json"), task);
        EXPECT_GT(config.d_model(), 0u);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace clearformer::test
