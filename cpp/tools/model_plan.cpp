#include "tools/model_plan.h"

#include <unistd.h>

#include <cstring>

#include "clearformer/architectures/architecture.h"
#include "clearformer/loading/load_model.h"
#include "tools/files.h"

namespace clearformer::tools {

namespace {

constexpr Task kTasks[] = {Task::base,
                           Task::masked_lm,
                           Task::sequence_classification,
                           Task::token_classification,
                           Task::question_answering,
                           Task::causal_lm,
                           Task::seq2seq_lm,
                           Task::image_classification};

// What it is in memory; nothing for a dtype that no layer reads.
std::optional<DType> memory_dtype(std::string_view stored) {
  if (stored == "F32" || stored == "F16" || stored == "BF16") return DType::f32;
  if (stored == "I32") return DType::i32;
  if (stored == "I64") return DType::i64;
  if (stored == "U8" || stored == "BOOL") return DType::u8;
  return std::nullopt;
}

std::uint64_t memory_of(const CheckpointHeaders& headers) {
  std::uint64_t bytes = 0;
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    const auto dtype = memory_dtype(entry.tensor.dtype);
    if (dtype) bytes += elements_of(entry.tensor) * size_of(*dtype);
  }
  return bytes;
}

// Half of the machine's memory is a plan's share.
std::uint64_t memory_limit() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size) / 2;
}

Weights zeros_for(const CheckpointHeaders& headers, std::vector<std::string>& problems) {
  Weights weights;
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    const auto dtype = memory_dtype(entry.tensor.dtype);
    if (!dtype) {
      problems.push_back(concat(entry.file, ": tensor \"", entry.tensor.name, "\": dtype ",
                                entry.tensor.dtype, " is not supported"));
      continue;
    }
    if (weights.contains(entry.tensor.name)) continue;  // told by the headers
    Tensor tensor = Weights::allocate(entry.tensor.native_shape(), *dtype);
    if (tensor.elements() != 0) std::memset(tensor.data(), 0, tensor.view().bytes());
    weights.add(entry.tensor.name, entry.file, std::move(tensor));
  }
  return weights;
}

}  // namespace

std::vector<std::string> problems_in(const Error& error) {
  constexpr std::string_view kPrefix = "weights: ", kBetween = "; ";
  std::string_view rest = error.what();
  if (!rest.starts_with(kPrefix)) return {std::string(rest)};
  rest.remove_prefix(kPrefix.size());
  std::vector<std::string> problems;
  for (;;) {
    const std::size_t end = rest.find(kBetween);
    problems.emplace_back(rest.substr(0, end));
    if (end == std::string_view::npos) return problems;
    rest.remove_prefix(end + kBetween.size());
  }
}

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::encoder_only: return "encoder-only";
    case ModelKind::decoder_only: return "decoder-only";
    case ModelKind::encoder_decoder: return "encoder-decoder";
    case ModelKind::dual_encoder: return "dual encoder";
  }
  return "";
}

ModelPlan ModelPlan::make(const std::string& folder, const CheckpointHeaders& headers) {
  ModelPlan plan;
  const auto text = read_text(folder + "/config.json");
  if (!text) {
    plan.problems.push_back(concat("cannot open ", folder, "/config.json"));
    return plan;
  }
  try {
    plan.read_config(*text);
    if (!headers.tensors.empty()) plan.build(*text, headers);
  } catch (const Error& error) {
    for (std::string& problem : problems_in(error)) plan.problems.push_back(std::move(problem));
  }
  return plan;
}

void ModelPlan::read_config(const std::string& text) {
  const ConfigReader reader(text, "config.json");
  model_type = reader.text("model_type", "");
  classes = reader.texts("architectures");
  const Architecture& architecture = architecture_of(reader);
  for (const Task task : kTasks) {
    try {
      const bool sees = architecture.read_config(reader, task).tower.image.has_value();
      if (sees || task != Task::image_classification) tasks.push_back(task);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
    }
  }
  config = architecture.read_config(reader, task_of(reader));
}

void ModelPlan::build(const std::string& text, const CheckpointHeaders& headers) {
  const std::uint64_t bytes = memory_of(headers);
  if (bytes > memory_limit()) {
    problems.push_back(concat("not checked: whether the tensors are those the model needs takes ",
                              bytes >> 20, " MB of memory, more than half of this machine's"));
    return;
  }
  const std::unique_ptr<Model> model = load_model(zeros_for(headers, problems), text);
  unexpected = model->unexpected_tensors();
  hooks.emplace();
  for (const HookPoint& hook : model->hooks()) hooks->push_back(hook.name);
}

}  // namespace clearformer::tools
