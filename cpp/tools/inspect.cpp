// clearformer inspect: what a checkpoint is, without reading its weights.
#include <algorithm>
#include <iomanip>

#include "tools/commands.h"
#include "tools/json_writer.h"
#include "tools/model_plan.h"

namespace clearformer::tools {

namespace {

struct Subject {
  explicit Subject(const std::string& folder)
      : headers(CheckpointHeaders::read(folder)), plan(ModelPlan::make(folder, headers)) {}

  // Of the files first, then of the model.
  std::vector<std::string> problems() const {
    std::vector<std::string> all = headers.problems;
    all.insert(all.end(), plan.problems.begin(), plan.problems.end());
    return all;
  }
  std::vector<std::string> task_names() const {
    std::vector<std::string> names;
    for (const Task task : plan.tasks) names.emplace_back(clearformer::to_string(task));
    return names;
  }

  CheckpointHeaders headers;
  ModelPlan plan;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

using Sizes = std::vector<std::pair<std::string, std::size_t>>;

Sizes sizes_of(const TowerConfig& tower) {
  const AttentionConfig& attention = tower.stack.block.attention;
  const std::size_t groups = attention.num_key_value_heads;
  Sizes sizes{{"n_layers", tower.stack.layers},
              {"d_model", tower.d_model()},
              {"n_heads", attention.num_heads},
              {"n_key_value_heads", groups == 0 ? attention.num_heads : groups},
              {"n_ctx", tower.max_positions}};
  if (tower.text) sizes.emplace_back("d_vocab", tower.text->vocabulary);
  if (tower.image) {
    sizes.emplace_back("image_height", tower.image->image_height);
    sizes.emplace_back("image_width", tower.image->image_width);
  }
  return sizes;
}

// One tower, or two by their names.
std::vector<std::pair<std::string, Sizes>> towers_of(const ModelConfig& config) {
  if (!config.second) return {{"model", sizes_of(config.tower)}};
  const bool dual = config.kind == ModelKind::dual_encoder;
  return {{dual ? "text" : "encoder", sizes_of(config.tower)},
          {dual ? "vision" : "decoder", sizes_of(*config.second)}};
}

void line(std::ostream& out, const std::string& name, const std::string& value) {
  out << std::left << std::setw(14) << name << value << "\n";
}

void print_model(const Subject& subject, std::ostream& out) {
  const ModelPlan& plan = subject.plan;
  line(out, "architecture",
       (plan.model_type.empty() ? "unknown" : plan.model_type) +
           (plan.config ? "" : " (not supported)"));
  if (!plan.classes.empty()) line(out, "classes", joined(plan.classes));
  if (!plan.config) return;
  line(out, "kind", std::string(to_string(plan.config->kind)));
  line(out, "saved for", std::string(clearformer::to_string(plan.config->task)));
  line(out, "tasks", joined(subject.task_names()));
  for (const auto& [name, sizes] : towers_of(*plan.config)) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : sizes) parts.push_back(concat(key, " ", value));
    line(out, name, joined(parts));
  }
  if (plan.hooks) line(out, "hook points", std::to_string(plan.hooks->size()));
}

void print_tensors(const CheckpointHeaders& headers, std::ostream& out) {
  std::size_t name_width = 6, shape_width = 5;
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    name_width = std::max(name_width, entry.tensor.name.size());
    shape_width = std::max(shape_width, shape_text(entry.tensor.shape).size());
  }
  const auto row = [&](const std::string& name, const std::string& dtype, const std::string& shape,
                       const std::string& file) {
    out << std::left << std::setw(static_cast<int>(name_width) + 2) << name << std::setw(6) << dtype
        << std::setw(static_cast<int>(shape_width) + 2) << shape << file << "\n";
  };
  out << "\n";
  row("tensor", "dtype", "shape", "file");
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    row(entry.tensor.name, entry.tensor.dtype, shape_text(entry.tensor.shape), entry.file);
  }
}

void print_list(const std::string& title, const std::vector<std::string>& lines,
                std::ostream& out) {
  if (lines.empty()) return;
  out << "\n" << title << "\n";
  for (const std::string& text : lines) out << "  " << text << "\n";
}

void print(const Subject& subject, std::ostream& out) {
  const CheckpointHeaders& headers = subject.headers;
  print_model(subject, out);
  line(out, "files", joined(headers.files));
  line(out, "parameters", std::to_string(headers.parameters()));
  std::vector<std::string> bytes;
  for (const auto& [dtype, count] : headers.bytes()) bytes.push_back(concat(dtype, " ", count));
  line(out, "bytes", joined(bytes));
  if (!headers.tensors.empty()) print_tensors(headers, out);
  print_list("problems", subject.problems(), out);
  if (subject.plan.unexpected) {
    print_list("tensors the model does not use", *subject.plan.unexpected, out);
  }
}

std::string tensors_json(const CheckpointHeaders& headers) {
  std::vector<std::string> entries;
  for (const CheckpointHeaders::Entry& entry : headers.tensors) {
    JsonObject object;
    object.text("name", entry.tensor.name)
        .text("dtype", entry.tensor.dtype)
        .add("shape", json_integers(entry.tensor.shape))
        .text("file", entry.file);
    entries.push_back(object.done());
  }
  return json_list(entries);
}

void add_config(JsonObject& object, const Subject& subject) {
  const ModelConfig& config = *subject.plan.config;
  object.text("kind", to_string(config.kind))
      .text("saved_for", clearformer::to_string(config.task))
      .add("tasks", json_strings(subject.task_names()));
  for (const auto& [name, sizes] : towers_of(config)) {
    JsonObject tower;
    for (const auto& [key, value] : sizes) tower.integer(key, value);
    object.add(name, tower.done());
  }
}

void print_json(const Subject& subject, std::ostream& out) {
  const ModelPlan& plan = subject.plan;
  JsonObject object;
  object.text("model_type", plan.model_type)
      .add("architectures", json_strings(plan.classes))
      .add("supported", plan.config ? "true" : "false");
  if (plan.config) add_config(object, subject);
  JsonObject bytes;
  for (const auto& [dtype, count] : subject.headers.bytes()) bytes.integer(dtype, count);
  object.add("files", json_strings(subject.headers.files))
      .integer("parameters", subject.headers.parameters())
      .add("bytes", bytes.done())
      .add("hooks", plan.hooks ? json_strings(*plan.hooks) : "null")
      .add("tensors", tensors_json(subject.headers))
      .add("problems", json_strings(subject.problems()))
      .add("unexpected", plan.unexpected ? json_strings(*plan.unexpected) : "null");
  out << object.done() << "\n";
}

}  // namespace

int inspect(const InspectOptions& options, std::ostream& out) {
  const Subject subject(options.folder);
  if (options.format == Format::json) {
    print_json(subject, out);
  } else {
    print(subject, out);
  }
  return 0;
}

}  // namespace clearformer::tools
