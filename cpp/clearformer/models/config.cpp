#include "clearformer/models/config.h"

#include <algorithm>

namespace clearformer {

namespace {

struct NamedTask {
  std::string_view name;
  std::string_view classes;  // the suffix of Hugging Face's class names
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
    {"ctc", "ForCTC", Task::ctc},
    {"causal-lm", "LMHeadModel", Task::causal_lm},
    {"masked-lm", "ForPreTraining", Task::masked_lm},
    {"replaced-token-detection", "ElectraForPreTraining", Task::replaced_token_detection},
    {"seq2seq-lm", "MTModel", Task::seq2seq_lm},
    {"image-classification", "ForImageClassificationWithTeacher", Task::image_classification},
    {"speech-seq2seq", "ForSpeechSeq2Seq", Task::seq2seq_lm},
    {"sequence-classification", "ForAudioClassification", Task::sequence_classification},
};

// The input of a pipeline.
enum class Reads { text, image, sound, text_and_image };

Reads reads(const ModelConfig& config) {
  if (config.kind == ModelKind::dual_encoder) return Reads::text_and_image;
  if (config.tower.reads_spectrograms()) return Reads::sound;
  if (config.tower.image) return Reads::image;
  return config.tower.audio || config.tower.waveform ? Reads::sound : Reads::text;
}

struct NamedPipeline {
  std::string_view name;
  Task task;
  Reads reads;
};
// If several fit, the first is the checkpoint's default.
constexpr NamedPipeline kPipelines[] = {
    {"feature-extraction", Task::base, Reads::text},
    {"sentence-similarity", Task::base, Reads::text},
    {"image-feature-extraction", Task::base, Reads::image},
    {"zero-shot-image-classification", Task::base, Reads::text_and_image},
    {"feature-extraction", Task::base, Reads::text_and_image},
    {"sentence-similarity", Task::base, Reads::text_and_image},
    {"image-feature-extraction", Task::base, Reads::text_and_image},
    {"fill-mask", Task::masked_lm, Reads::text},
    {"text-classification", Task::sequence_classification, Reads::text},
    {"zero-shot-classification", Task::sequence_classification, Reads::text},
    {"text-ranking", Task::sequence_classification, Reads::text},
    {"token-classification", Task::token_classification, Reads::text},
    {"question-answering", Task::question_answering, Reads::text},
    {"text-generation", Task::causal_lm, Reads::text},
    {"translation", Task::seq2seq_lm, Reads::text},
    {"summarization", Task::seq2seq_lm, Reads::text},
    {"text2text-generation", Task::seq2seq_lm, Reads::text},
    {"automatic-speech-recognition", Task::seq2seq_lm, Reads::sound},
    {"image-classification", Task::image_classification, Reads::image},
    {"automatic-speech-recognition", Task::ctc, Reads::sound},
    {"audio-classification", Task::sequence_classification, Reads::sound},
};

// Looks a task up by name in one of the tables; appends the table's names to `known`.
template <class Table>
std::optional<Task> task_in(const Table& table, std::string_view name, std::string& known) {
  for (const auto& entry : table) {
    if (entry.name == name) return entry.task;
    if (known.find(entry.name) == std::string::npos) {
      known += concat(known.empty() ? "" : ", ", entry.name);
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string_view> pipelines_of(const ModelConfig& config) {
  std::vector<std::string_view> names;
  // An encoder-decoder without a head serves no pipeline.
  const bool headless = config.kind == ModelKind::encoder_decoder && config.task == Task::base;
  for (const NamedPipeline& entry : kPipelines) {
    if (headless || entry.task != config.task || entry.reads != reads(config)) continue;
    names.push_back(entry.name);
  }
  return names;
}

bool serves(const ModelConfig& config, std::string_view name) {
  // Transformers has these classes for texts or for sounds alone. Encoders of samples recognise speech, too, but generate
  // no text.
  const bool sound = reads(config) == Reads::sound;
  const bool speech = name == "speech-seq2seq";
  if (speech || name == "seq2seq-lm") return config.task == Task::seq2seq_lm && sound == speech;
  if (name == "sequence-classification") return !sound;
  const auto names = pipelines_of(config);
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  return std::none_of(std::begin(kPipelines), std::end(kPipelines),
                      [&](const NamedPipeline& entry) { return entry.name == name; });
}

std::string_view head_scope(const ModelConfig& config) {
  switch (config.task) {
    case Task::masked_lm: return "mlm";
    case Task::sequence_classification: return "classifier";
    case Task::image_classification:
      return config.second_head ? "teacher_classifier" : "classifier";
    case Task::token_classification: return "token_classifier";
    case Task::question_answering: return "qa";
    case Task::replaced_token_detection: return "detector";
    case Task::ctc: return "ctc";
    default: return "pooler";
  }
}

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::encoder_only: return "encoder-only";
    case ModelKind::decoder_only: return "decoder-only";
    case ModelKind::encoder_decoder: return "encoder-decoder";
    default: return "dual-encoder";
  }
}

std::string_view to_string(Task task) {
  for (const NamedTask& entry : kTasks) {
    if (entry.task == task) return entry.name;
  }
  return "";
}

std::vector<Task> all_tasks() {
  std::vector<Task> tasks;
  for (const NamedTask& entry : kTasks) {
    const auto known = std::find(tasks.begin(), tasks.end(), entry.task);
    if (known == tasks.end()) tasks.push_back(entry.task);
  }
  return tasks;
}

Task task_named(std::string_view name) {
  std::string known;
  if (const auto task = task_in(kTasks, name, known)) return *task;
  if (const auto task = task_in(kPipelines, name, known)) return *task;
  fail(ErrorCode::unsupported, "task \"", name, "\" is not supported; supported: ", known);
}

// The entry with the longest matching suffix.
std::optional<Task> task_of_class(std::string_view class_name) {
  const NamedTask* best = nullptr;
  for (const NamedTask& entry : kTasks) {
    if (!class_name.ends_with(entry.classes)) continue;
    if (best == nullptr || best->classes.size() < entry.classes.size()) best = &entry;
  }
  return best == nullptr ? std::nullopt : std::optional<Task>(best->task);
}

}  // namespace clearformer
