#include "clearformer/models/config.h"

#include "clearformer/models/architectures/known.h"

namespace clearformer {

namespace {

struct NamedTask {
  std::string_view name;
  std::string_view classes;  // what Hugging Face's class names end in
  Task task;
};
constexpr NamedTask kTasks[] = {
    {"base", "Model", Task::base},
    {"masked-lm", "ForMaskedLM", Task::masked_lm},
    {"sequence-classification", "ForSequenceClassification", Task::sequence_classification},
    {"token-classification", "ForTokenClassification", Task::token_classification},
    {"question-answering", "ForQuestionAnswering", Task::question_answering},
    {"causal-lm", "ForCausalLM", Task::causal_lm},
    {"seq2seq-lm", "ForConditionalGeneration", Task::seq2seq_lm},
    {"image-classification", "ForImageClassification", Task::image_classification},
    {"causal-lm", "LMHeadModel", Task::causal_lm},
    {"masked-lm", "ForPreTraining", Task::masked_lm},
    {"seq2seq-lm", "MTModel", Task::seq2seq_lm},
    {"image-classification", "ForImageClassificationWithTeacher", Task::image_classification},
    {"zero-shot-image-classification", "CLIPModel", Task::base},
    {"speech-seq2seq", "ForSpeechSeq2Seq", Task::seq2seq_lm},
};

// The class whose name ends longest in one of the table's.
const NamedTask* class_of(std::string_view name) {
  const NamedTask* best = nullptr;
  for (const NamedTask& entry : kTasks) {
    if (!name.ends_with(entry.classes)) continue;
    if (best == nullptr || best->classes.size() < entry.classes.size()) best = &entry;
  }
  return best;
}

}  // namespace

std::string_view to_string(Task task) {
  for (const NamedTask& entry : kTasks) {
    if (entry.task == task) return entry.name;
  }
  return "";
}

Task task_named(std::string_view name) {
  std::string known;
  for (const NamedTask& entry : kTasks) {
    if (entry.name == name) return entry.task;
    if (known.find(entry.name) == std::string::npos) {
      known += concat(known.empty() ? "" : ", ", entry.name);
    }
  }
  fail(ErrorCode::unsupported, "task \"", name, "\" is not supported; supported: ", known);
}

Task task_of(const ConfigReader& config) {
  for (const std::string& name : config.texts("architectures")) {
    const NamedTask* entry = class_of(name);
    if (entry != nullptr) return entry->task;
    config.refuse(ErrorCode::unsupported, "architectures", "names ", name,
                  ", whose head is not known");
  }
  return architecture_of(config).usual_task;
}

ModelConfig read_model_config(const ConfigReader& config, std::optional<Task> task) {
  const Architecture& architecture = architecture_of(config);
  if (const auto quantized = config.object("quantization_config")) {
    config.refuse(
        ErrorCode::unsupported, "quantization_config", "says that the weights are stored as ",
        quantized->text("quant_method", "quantized numbers"), "; fp32, fp16 and bf16 are read");
  }
  return architecture.read_config(config, task ? *task : task_of(config));
}

void refuse_task(const ConfigReader& config, Task task) {
  config.refuse(ErrorCode::unsupported, "model_type", "is \"", config.text("model_type"),
                "\", which has no head for the task ", to_string(task));
}

NameMap Architecture::names(const Weights& weights) const {
  NameMap names;
  for (const std::string_view prefix : prefixes) {
    if (!weights.begins_with(prefix) && !weights.names().empty()) continue;
    names = NameMap({}, std::string(prefix));
    break;
  }
  for (const KeyScheme& scheme : schemes) {
    if (!scheme.marker.empty() && !weights.mentions(scheme.marker)) continue;
    names.add(scheme.rules);
    break;
  }
  names.add(rules);
  return names;
}

std::vector<NameMap> Architecture::spellings() const {
  std::vector<std::string_view> starts(prefixes.begin(), prefixes.end());
  starts.emplace_back();
  std::vector<std::span<const NameRule>> ways;
  for (const KeyScheme& scheme : schemes) ways.push_back(scheme.rules);
  ways.emplace_back();
  std::vector<NameMap> all;
  for (const std::string_view start : starts) {
    for (const std::span<const NameRule> way : ways) {
      NameMap& names = all.emplace_back(std::vector<NameRule>(), std::string(start));
      names.add(way);
      names.add(rules);
    }
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
