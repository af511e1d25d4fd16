#include "clearformer/architectures/architecture.h"

#include <algorithm>

#include "clearformer/architectures/known.h"
#include "clearformer/architectures/values.h"
#include "clearformer/tensor/pattern.h"

namespace clearformer {

Task task_of(const ConfigReader& config) {
  const Architecture& architecture = architecture_of(config);
  for (const std::string& name : config.texts("architectures")) {
    const std::optional<Task> task = task_of_class(name);
    // Gemma3ForConditionalGeneration: a decoder that reads images, too. Qwen 3.5's likewise.
    if (task == Task::seq2seq_lm && (architecture.model_type.starts_with("gemma3") ||
                                     architecture.model_type.starts_with("qwen3_5"))) {
      break;
    }
    if (task) return *task;
    config.refuse(ErrorCode::unsupported, "architectures", "names ", name,
                  ", whose head is not known");
  }
  return architecture.usual_task;
}

namespace {
ModelConfig::Problem read_problem(const ConfigReader& config) {
  const std::string problem = config.text("problem_type");
  using Problem = ModelConfig::Problem;
  if (problem == "regression") return Problem::regression;
  if (problem == "single_label_classification") return Problem::single_label;
  if (problem == "multi_label_classification") return Problem::multi_label;
  config.refuse_must("problem_type", "be regression, single_ or multi_label_classification");
}
}  // namespace

namespace {
// The decoder-only model types that transformers has a classifier of texts for, and one of tokens.
constexpr std::string_view kTextClassifiers =
    "arcee bloom exaone4 falcon gemma gemma2 gemma3_text glm glm4 gpt2 gpt_bigcode gpt_neo "
    "gpt_neox gptj helium hunyuan_v1_dense llama mistral mixtral modernbert-decoder mpt nemotron "
    "olmo olmo2 olmo3 openai-gpt opt phi phi3 qwen2 qwen3 qwen3_moe smollm3 stablelm starcoder2";
constexpr std::string_view kTokenClassifiers =
    "arcee biogpt bloom exaone4 falcon gemma gemma2 glm glm4 gpt2 gpt_bigcode gpt_neo gpt_neox "
    "helium llama mistral mixtral mpt nemotron phi phi3 qwen2 qwen3 qwen3_moe smollm3 stablelm "
    "starcoder2";

bool classifies(std::string_view model_type, Task task) {
  const auto among = [&](std::string_view types) {
    const std::vector<std::string_view> all = split(types);
    return std::find(all.begin(), all.end(), model_type) != all.end();
  };
  return task == Task::sequence_classification
             ? among(kTextClassifiers)
             : task == Task::token_classification && among(kTokenClassifiers);
}

// Gives a language model's trunk a head in place of its output layer: texts are classified at their last token.
void classify(const ConfigReader& config, Task task, ModelConfig& model) {
  model.task = task;
  model.output = {};
  HeadConfig head = model.before_output.value_or(HeadConfig());
  head.d_model = model.tower.d_out > 0 ? model.tower.d_out : model.d_model();
  head.outputs = read_labels(config);
  if (task == Task::sequence_classification) {
    head.pick = HeadConfig::Pick::given;
    head.bias = model.before_output ? head.dense_bias : Bias::none;
  }
  model.before_output.reset();
  model.head = head;
}
}  // namespace

ModelConfig read_model_config(const ConfigReader& config, std::optional<Task> task) {
  const Architecture& architecture = architecture_of(config);
  config.texts("architectures");  // validates it as a list of strings in every case
  for (const char* key : {"quantization_config", "compression_config"}) {
    if (const auto quantized = config.object(key)) {
      config.refuse(ErrorCode::unsupported, key, "says that the weights are stored as ",
                    quantized->text("quant_method", "quantized numbers"),
                    ": load the checkpoint they were made from, which can be quantised while it is "
                    "loaded (dtype q8 or q4)");
    }
  }
  const ConfigReader own = declared(config, architecture.keys);
  const Task wanted = task ? *task : task_of(config);
  const bool head = classifies(architecture.model_type, wanted);
  ModelConfig read = architecture.read_config(own, head ? Task::base : wanted);
  if (head) classify(own, wanted, read);
  if (config.is_set("problem_type")) read.problem = read_problem(config);
  return read;
}

void refuse_task(const ConfigReader& config, std::string_view task) {
  config.refuse(ErrorCode::unsupported, "model_type", "is \"", config.text("model_type", ""),
                "\", which has no head for the task ", task);
}

void refuse_task(const ConfigReader& config, Task task) { refuse_task(config, to_string(task)); }

bool is_gated(const ConfigReader&, const ModelConfig& model) {
  return model.tower.stack.block.feed_forward.gate == Gate::present;
}

namespace {
// The heads of decoder-only models: the oldest name that of tokens differently.
constexpr std::string_view kDecoderHeads = R"(
classifier.out /score
token_classifier.out /score
)";
constexpr std::string_view kFirstDecoderHeads = R"(
classifier.out /score
token_classifier.out /classifier
)";
std::string_view head_rules(const Architecture& architecture) {
  if (architecture.usual_task != Task::causal_lm) return "";
  return architecture.prefixes.starts_with("model.") ? kDecoderHeads : kFirstDecoderHeads;
}

NameMap joined(std::string_view prefix, std::string_view scheme, std::string_view rules) {
  NameMap names(scheme, std::string(prefix));
  names.add(rules);
  return names;
}

NameMap sized(NameMap&& names, const ModelConfig& config) {
  const BlockConfig& block = config.tower.stack.block;
  // The rules of a model with gates are of queries.
  names.set_key_value_heads(block.attention.gated ? block.attention.num_heads
                                                  : block.attention.num_key_value_heads);
  names.set_experts(block.feed_forward.router.experts);
  return std::move(names);
}
}  // namespace

NameMap Architecture::names(const Weights& weights, const ModelConfig& config) const {
  NameMap names;
  for (const std::string_view prefix : split(prefixes)) {
    if (!weights.begins_with(prefix) && !weights.names().empty()) continue;
    names = NameMap("", std::string(prefix));
    break;
  }
  for (const KeyScheme& scheme : schemes) {
    if (!scheme.marker.empty() && !weights.mentions(scheme.marker)) continue;
    names.add(scheme.rules);
    break;
  }
  names.add(rules);
  names.add(head_rules(*this));
  return sized(std::move(names), config);
}

NameMap Architecture::saved_names(const ModelConfig& config, std::string_view scheme) const {
  std::string_view prefix;
  for (const std::string_view other : split(prefixes)) {
    if (prefix.starts_with(other) || prefix.empty()) prefix = other;
  }
  const bool bare = prefixes_classifiers ? config.task != Task::sequence_classification &&
                                               config.task != Task::token_classification
                                         : config.task == Task::base;
  if (bare) prefix.remove_prefix(prefix.find('.') + 1);
  NameMap names = joined(prefix, scheme, rules);
  names.add(head_rules(*this));
  return sized(std::move(names), config);
}

void Architecture::expect_one_prefix(const Weights& weights) const {
  for (const std::string& name : weights.unused()) {
    for (const std::string_view prefix : split(prefixes)) {
      weights.expect_no_twin(name, concat(prefix, name));
      if (name.starts_with(prefix)) {
        weights.expect_no_twin(name, std::string_view(name).substr(prefix.size()));
      }
    }
  }
}

std::vector<NameMap> Architecture::spellings() const {
  std::vector<std::string_view> starts = split(prefixes);
  starts.emplace_back();
  std::vector<std::string_view> ways;
  for (const KeyScheme& scheme : schemes) ways.push_back(scheme.rules);
  ways.emplace_back();
  std::vector<NameMap> all;
  for (const std::string_view start : starts) {
    for (const std::string_view way : ways) all.push_back(joined(start, way, rules));
  }
  return all;
}

bool never_saved(const ConfigReader&, const ModelConfig&) { return false; }

std::vector<NameMap> Architecture::synonyms() const {
  std::vector<NameMap> all;
  if (schemes.size() > 1 &&
      (schemes.front().saved == nullptr || schemes.front().saved == never_saved)) {
    for (const KeyScheme& scheme : schemes) all.push_back(joined("", scheme.rules, rules));
    return all;
  }
  std::string_view usual;
  if (!schemes.empty() && schemes.back().marker.empty()) usual = schemes.back().rules;
  for (const std::string_view prefix : split(prefixes)) {
    all.push_back(joined(prefix, usual, rules));
  }
  return all;
}

const Architecture& architecture_of(const ConfigReader& config) {
  const std::string model_type = config.text("model_type");
  std::string known;
  for (const Architecture* architecture : kKnown) {
    if (architecture->model_type == model_type) return *architecture;
    known += concat(known.empty() ? "" : ", ", architecture->model_type);
  }
  config.refuse(ErrorCode::unsupported, "model_type", "is \"", model_type,
                "\"; supported: ", known);
}

}  // namespace clearformer
