// The architectures with a folder in tests/fixtures/models, and runs of their cases on our models.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "clearformer/models/model.h"
#include "support/checkpoint.h"
#include "support/files.h"
#include "support/fixture.h"

namespace clearformer::test {

inline constexpr const char* kArchitectures[] = {"bert",
                                                 "roberta",
                                                 "distilbert",
                                                 "modernbert",
                                                 "xlm_roberta",
                                                 "camembert",
                                                 "electra",
                                                 "albert",
                                                 "mpnet",
                                                 "deberta_v2",
                                                 "esm",
                                                 "gpt2",
                                                 "gpt_neo",
                                                 "mistral",
                                                 "qwen2",
                                                 "qwen3",
                                                 "phi",
                                                 "phi3",
                                                 "gemma",
                                                 "gemma2",
                                                 "gemma3_text",
                                                 "olmo",
                                                 "olmo2",
                                                 "olmo3",
                                                 "smollm3",
                                                 "granite",
                                                 "starcoder2",
                                                 "opt",
                                                 "openai_gpt",
                                                 "nn_transformer",
                                                 "marian",
                                                 "bart",
                                                 "t5",
                                                 "whisper",
                                                 "vit",
                                                 "deit",
                                                 "clip",
                                                 "gpt_neox",
                                                 "gptj",
                                                 "codegen",
                                                 "bloom",
                                                 "falcon",
                                                 "mpt",
                                                 "stablelm",
                                                 "cohere",
                                                 "cohere2",
                                                 "mbart",
                                                 "m2m_100",
                                                 "pegasus",
                                                 "dinov2",
                                                 "dinov2_with_registers",
                                                 "siglip",
                                                 "mt5",
                                                 "lfm2",
                                                 "granitemoe",
                                                 "olmoe",
                                                 "qwen3_moe",
                                                 "mixtral",
                                                 "qwen3_5_text",
                                                 "dinov3_vit",
                                                 "ernie4_5",
                                                 "helium",
                                                 "decoder_classifiers",
                                                 "glm",
                                                 "glm4",
                                                 "exaone4",
                                                 "arcee",
                                                 "vaultgemma",
                                                 "nomic_bert",
                                                 "eurobert",
                                                 "gpt_bigcode",
                                                 "hunyuan_v1_dense",
                                                 "nanochat",
                                                 "modernbert_decoder",
                                                 "audio_spectrogram_transformer",
                                                 "nemotron",
                                                 "xglm",
                                                 "biogpt",
                                                 "data2vec_text",
                                                 "blenderbot",
                                                 "blenderbot_small",
                                                 "granitemoehybrid"};
/// Those whose embedding has no backward pass: tests of gradients at every hook point leave them out.
inline constexpr const char* kSoundArchitectures[] = {"wav2vec2", "hubert"};

/// The model inputs of a case, converted to the models' types; their names begin with `prefix`.
struct CaseInputs {
  explicit CaseInputs(const Case& reference, const std::string& prefix = "") {
    for (const InputName& entry : kInputNames) {
      const std::string name = prefix + std::string(entry.name);
      if (!reference.has_input(name)) continue;
      tensors.push_back(entry.dtype == DType::i32  ? reference.int32_input(name)
                        : entry.dtype == DType::u8 ? reference.uint8_input(name)
                                                   : reference.input(name).clone());
      inputs.*entry.member = tensors.back().view();
    }
  }
  std::vector<Tensor> tensors;
  ModelInputs inputs;
};

/// The checkpoint named by a case, in `folder` of the fixtures, with the head of its task.
inline std::unique_ptr<Model> model_of(const std::string& folder, const Case& reference) {
  return load_folder(fixture_path(folder + "/" + reference.option("checkpoint").string()),
                     "config.json", task_named(reference.option("task").string()));
}

/// Calls visit(model, inputs) for one case of every checkpoint of the architecture.
template <class Visit>
void each_checkpoint(const std::string& architecture, Visit visit) {
  const std::string group = "models/" + architecture;
  const Fixture fixture(group);
  std::map<std::string, const Case*> chosen;
  for (const Case* reference : fixture.of_op("model_forward")) {
    chosen[reference->option("checkpoint").string()] = reference;
  }
  ASSERT_FALSE(chosen.empty());
  for (const auto& [checkpoint, reference] : chosen) {
    SCOPED_TRACE(reference->name());
    const CaseInputs given(*reference);
    visit(*model_of(group, *reference), given.inputs);
  }
}

}  // namespace clearformer::test
