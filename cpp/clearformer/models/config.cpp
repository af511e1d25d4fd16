#include "clearformer/models/config.h"

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

// The one whose name ends longest in one of the table's.
std::optional<Task> task_of_class(std::string_view class_name) {
  const NamedTask* best = nullptr;
  for (const NamedTask& entry : kTasks) {
    if (!class_name.ends_with(entry.classes)) continue;
    if (best == nullptr || best->classes.size() < entry.classes.size()) best = &entry;
  }
  return best == nullptr ? std::nullopt : std::optional<Task>(best->task);
}

}  // namespace clearformer
