// Target: options of generate(), as JSON from a caller, and a few steps of a generation with them. Input: a byte for
// the model, then the options.
#include <algorithm>
#include <map>
#include <memory>

#include "clearformer/generation/generation.h"
#include "support/checkpoint.h"
#include "support/files.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

constexpr const char* kModels[] = {"gpt2/odd", "bart/odd", "t5/even", "mistral/even"};
constexpr std::size_t kRows = 16, kSteps = 4, kPrompt = 5;

Model& model_at(std::size_t index) {
  static std::map<std::size_t, std::unique_ptr<Model>> all;
  auto& model = all[index];
  if (!model)
    model = test::load_folder(test::fixture_path(std::string("models/") + kModels[index]));
  return *model;
}

void expect_step(const Generation::Step& step, std::size_t rows, std::size_t vocabulary) {
  promise(step.tokens.size() == rows, "another number of rows");
  promise(step.scores.shape() == Shape({rows, vocabulary}), "scores of another shape");
  for (const std::int32_t token : step.tokens) promise(token >= 0, "a negative token");
}

void generate(Model& model, GenerationConfig config) {
  // The cost of a run is not tested: a few rows and steps of any generation.
  if (config.num_beams > kRows || config.num_return_sequences > kRows) return;
  config.max_new_tokens = std::min(config.max_new_tokens.value_or(kSteps), kSteps);
  Tensor ids({1, kPrompt}, DType::i32);
  for (std::size_t i = 0; i < kPrompt; ++i) {
    ids.mutable_view().as<std::int32_t>()[i] = static_cast<std::int32_t>(3 + 7 * i % 40);
  }
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  Generation generation(model, inputs, config);
  const std::size_t rows = std::max(config.num_beams, config.num_return_sequences);
  std::size_t steps = 0;
  for (; !generation.done(); ++steps) {
    promise(steps < kSteps, "more tokens than max_new_tokens");
    expect_step(generation.next(), rows, model.config().d_vocab());
  }
  const Tensor sequences = generation.sequences();
  promise(sequences.dim(0) == generation.returned(), "another number of sequences");
}

}  // namespace

void run_options(std::string_view bytes) {
  if (bytes.empty()) return;
  Model& model = model_at(static_cast<unsigned char>(bytes[0]) % std::size(kModels));
  try {
    GenerationConfig config;
    config.update(ConfigReader(bytes.substr(1), "options", ErrorCode::invalid_argument),
                  GenerationConfig::Unknown::refuse);
    config.check();
    generate(model, std::move(config));
  } catch (const Error& error) {
    promise(*error.what() != '\0', "a refusal says nothing");
  }
}

std::vector<std::string> options_seeds() {
  constexpr const char* kOptions[] = {
      R"({"max_new_tokens": 3, "min_new_tokens": 1, "num_beams": 3, "num_return_sequences": 2, "early_stopping": "never", "length_penalty": -0.5, "seed": 7})",
      R"({"do_sample": true, "temperature": 0.7, "top_k": 5, "top_p": 0.9, "min_p": 0.05, "typical_p": 0.9, "epsilon_cutoff": 0.001, "eta_cutoff": 0.001, "top_h": 0.4, "num_return_sequences": 3, "seed": 1})",
      R"({"do_sample": true, "num_beams": 2, "early_stopping": true, "renormalize_logits": true, "remove_invalid_values": true, "max_time": 10})",
      R"({"repetition_penalty": 1.3, "encoder_repetition_penalty": 0.8, "no_repeat_ngram_size": 2, "encoder_no_repeat_ngram_size": 2, "max_length": 9, "min_length": 8})",
      R"({"bad_words_ids": [[3], [4, 5]], "sequence_bias": [[[6], 2.5], [[7, 8], -3]], "suppress_tokens": [1, 2], "begin_suppress_tokens": [9], "eos_token_id": [2, 10], "pad_token_id": 0})",
      R"({"forced_bos_token_id": 4, "forced_eos_token_id": [2], "forced_decoder_ids": [[1, 5], [2, null]], "exponential_decay_length_penalty": [1, 1.5], "decoder_start_token_id": 2, "bos_token_id": 1, "use_cache": true, "num_beam_groups": 1})",
      R"({"return_timestamps": true, "no_timestamps_token_id": 40, "max_initial_timestamp_index": 3, "eos_token_id": 2})",
      R"({"stop_strings": ["x"], "max_new_tokens": null})"};
  std::vector<std::string> seeds;
  char model = 0;
  for (const char* options : kOptions) {
    seeds.push_back(std::string(1, static_cast<char>(model++ % std::size(kModels))) + options);
    seeds.push_back(std::string(1, static_cast<char>(model % std::size(kModels))) + options);
  }
  return seeds;
}

}  // namespace clearformer::fuzz
