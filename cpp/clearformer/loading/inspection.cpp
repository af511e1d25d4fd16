#include "clearformer/loading/inspection.h"

#include <algorithm>

#include "clearformer/architectures/architecture.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/loading/stored_frequencies.h"
#include "clearformer/loading/ties.h"
#include "clearformer/tensor/memory_budget.h"
#include "clearformer/tensor/pattern.h"
#include "clearformer/tensor/typed_memory.h"
#include "clearformer/weights/incoming_tensor.h"
#include "clearformer/weights/json_writer.h"

namespace clearformer {

void Problems::collect_from(std::string_view file, void (*call)(void*), void* work) {
  try {
    call(work);
  } catch (const Error& error) {
    push_back({error.code(), Problem::Severity::error, error.what(), std::string(file)});
  }
}

namespace {

constexpr const char* kConfig = "config.json";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr std::size_t kMaxFaults = 20;  // of one header

class Inspector {
 public:
  explicit Inspector(const InspectedFolder& folder) : folder_(folder) {}

  Inspection run() {
    found_.problems = folder_.problems;
    if (folder_.dtype) found_.problems.collect({}, [&] { expect_matrix_format(*folder_.dtype); });
    for (const InspectedFolder::File& file : folder_.files) {
      found_.problems.collect(file.name, [&] { read_header(file); });
    }
    if (folder_.index) {
      found_.problems.collect(kIndex, [&] { read_index(); });
    }
    if (whole()) count_parameters();
    if (folder_.config) found_.problems.collect(kConfig, [&] { read_config(); });
    if (folder_.config && !found_.config) find_more(found_.problems.back().text);
    if (found_.config) found_.problems.collect({}, [&] { find_needs(); });
    return std::move(found_);
  }

 private:
  void read_index() {
    ShardIndex index = ShardIndex::parse(*folder_.index, kIndex);
    files_ = index.files.size();
    for (const auto& [file, stored] : found_.tensors) index.settle(stored, file);
    for (const auto& [file, stored] : found_.tensors) index.check(stored, file);
  }

  void read_header(const InspectedFolder::File& file) {
    struct Found {
      Problems& problems;
      const std::string& file;
      std::size_t before;
    } found{found_.problems, file.name, found_.problems.size()};
    const auto run = [](void* context, void (*check)(void*), void* of) {
      auto& [problems, name, before] = *static_cast<Found*>(context);
      problems.collect_from(name, check, of);
      return problems.size() < before + kMaxFaults;
    };
    SafetensorsHeader header =
        SafetensorsHeader::read(file.start, file.bytes, file.name, {&found, run});
    if (found_.problems.size() != found.before) return;
    found_.readable.push_back(file.name);
    found_.problems.collect(file.name, [&] { IncomingTensor::expect_unscaled(header, file.name); });
    for (StoredTensor& tensor : header.tensors) {
      found_.tensors.push_back({file.name, std::move(tensor)});
    }
  }

  void count_parameters() {
    found_.parameters = 0;
    for (const Inspection::Tensor& tensor : found_.tensors) {
      std::uint64_t elements = 1;
      for (const std::uint64_t extent : tensor.stored.shape) elements *= extent;
      *found_.parameters += elements;
    }
  }

  void read_config() {
    const ConfigReader reader(*folder_.config, kConfig);
    found_.model_type = reader.text("model_type", "");
    found_.classes = reader.texts("architectures");
    const Architecture& architecture = architecture_of(reader);
    for (const Task task : all_tasks()) try_task(architecture, reader, task);
    const auto task = folder_.task ? std::optional<Task>(task_named(*folder_.task)) : std::nullopt;
    found_.config = read_model_config(reader, task);
    // A classifier with a language model's trunk: what it serves is no task of the architecture itself.
    std::vector<std::string_view>& all = found_.pipelines;
    for (const auto name : pipelines_of(*found_.config)) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
    choose_pipeline(reader);
    find_cache();
  }

  // Removes the key of the first problem and reads on, to report further values of the wrong kind. Missing keys and
  // inconsistencies may result from the removal and are not reported.
  void find_more(std::string problem) {
    const std::string start = concat(kConfig, ": \"");
    if (!problem.starts_with(start)) return;
    ConfigReader reader(*folder_.config, kConfig);
    const auto task = folder_.task ? std::optional<Task>(task_named(*folder_.task)) : std::nullopt;
    while (true) {
      const std::string key =
          problem.substr(start.size(), problem.find('"', start.size()) - start.size());
      if (!reader.knows(key)) return;
      reader = reader.without(key);
      try {
        read_model_config(reader, task);
        return;
      } catch (const Error& error) {
        problem = error.what();
        if (!problem.starts_with(start) || problem.find("\" must ") == std::string::npos) return;
        found_.problems.push_back({error.code(), Problem::Severity::error, problem, kConfig});
      }
    }
  }

  void try_task(const Architecture& architecture, const ConfigReader& reader, Task task) {
    try {
      const ModelConfig config = architecture.read_config(reader, task);
      // Where the head of another task takes its place, that task's turn comes.
      for (const auto name : pipelines_of(config)) {
        if (config.task == task) found_.pipelines.push_back(name);
      }
    } catch (const Error&) {
      // no head for it, or an error that the requested task runs into as well
    }
  }

  // The requested pipeline, or the first that fits: for text-to-text models translation, unless the config has settings
  // for summarization and none for translation.
  void choose_pipeline(const ConfigReader& reader) {
    const auto names = pipelines_of(*found_.config);
    if (names.empty()) return;
    found_.pipeline = names.front();
    const Json* settings = reader.root().find_set("task_specific_params");
    const auto wanted = [&](std::string_view name) {
      if (folder_.task) return name == *folder_.task;
      return settings != nullptr && settings->find(name) != nullptr;
    };
    if (!folder_.task && settings != nullptr && settings->is_object()) {
      for (const auto& [name, values] : settings->object()) {
        if (name.starts_with("translation")) return;
      }
    }
    const auto found = std::find_if(names.begin(), names.end(), wanted);
    if (found != names.end()) found_.pipeline = *found;
  }

  void find_cache() {
    Inspection::Cache cache;
    for (std::size_t i = 0; i < cache.size(); ++i) {
      cache[i] = cache_bytes(*found_.config, Inspection::kCacheFormats[i]);
    }
    if (cache.front().any()) found_.cache = cache;
  }

  // Layers built over headers allocate nothing for weights.
  void find_needs() {
    const ConfigReader reader(*folder_.config, kConfig);
    const Architecture& architecture = architecture_of(reader);
    if (whole()) {
      std::vector<MatrixRequest> matrices;
      Weights weights = Weights::recording(matrices, true);
      describe(weights);
      weights.modernize();
      take(weights, architecture, matrices);
      for (const std::string_view pattern : split(architecture.ignored)) weights.ignore(pattern);
      found_.problems.collect({}, [&] { architecture.expect_one_prefix(weights); });
      found_.unexpected = weights.unused();
      report(weights);
    }
    if (found_.memory) return;
    std::vector<MatrixRequest> matrices;
    Weights nothing = Weights::recording(matrices);
    take(nothing, architecture, matrices);
  }

  // Whether the headers of all files have been read.
  bool whole() const { return found_.readable.size() == files_; }

  void take(Weights& weights, const Architecture& architecture,
            const std::vector<MatrixRequest>& matrices) {
    SettledTies ties;
    try {
      ModelConfig config = *found_.config;
      const NameMap names = architecture.names(weights, config);
      if (!weights.names().empty()) ties = settle_ties(config, weights, names);
      if (config.tower.stores_frequencies) adopt_frequencies(config.tower, weights);
      record_weights(std::move(config), WeightScope(weights, names));
    } catch (const Error&) {
      if (weights.problems().empty()) throw;
      return;  // too many to continue
    }
    found_.same.swap(ties.same);
    found_.memory = memory_of(weights.bytes_taken(), matrices);
    // While a call runs; the output layer's twin has been compared with the table and released.
    const Inspection::Memory kept = memory_of(weights.bytes_taken(), matrices, ties.untied);
    for (std::size_t i = 0; i < found_.peak.size(); ++i) {
      const MatrixFormat format = *matrix_format_named(Inspection::kDTypes[i]);
      found_.peak[i] =
          std::max((*found_.memory)[i],
                   bounded_sum(kept[i], call_bytes(*found_.config, Inspection::kPrompt, format)));
    }
    if (whole()) compare_memory();
    if (found_.parameters) return;
    found_.parameters = weights.bytes_taken() / sizeof(float);
    for (const MatrixRequest& matrix : matrices) {
      *found_.parameters += std::uint64_t{matrix.outputs} * matrix.inputs;
    }
  }

  void describe(Weights& weights) {
    for (const auto& [file, stored] : found_.tensors) {
      found_.problems.collect(file, [&, &file = file, &stored = stored] {
        StoredWeight weight;
        weight.unread = IncomingTensor::unreadable(stored);
        if (weight.unread.empty()) {
          weight = Weights::described(stored.native_shape(),
                                      *IncomingTensor::memory_dtype(stored.dtype));
        }
        weights.add(stored.name, file, std::move(weight));
      });
    }
  }

  // Compares the size in the requested dtype, or else fp32, with the available memory.
  void compare_memory() {
    const std::uint64_t limit = memory_budget().limit;
    const auto* first = std::find(std::begin(Inspection::kDTypes), std::end(Inspection::kDTypes),
                                  folder_.dtype.value_or("fp32"));
    const auto wanted = static_cast<std::size_t>(first - Inspection::kDTypes);
    const Inspection::Memory& memory = *found_.memory;
    for (std::size_t i = memory.size(); i-- != 0;) {
      if (found_.peak[i] <= limit) found_.fits = Inspection::kDTypes[i];
    }
    if (wanted == memory.size() || memory[wanted] <= limit) return;
    std::string cure = "; no dtype fits";
    Problem::Severity severity = Problem::Severity::error;
    for (std::size_t i = memory.size(); i-- != 0;) {
      const bool smallest = i + 1 == memory.size();
      if ((smallest ? memory : found_.peak)[i] > limit) continue;
      cure = concat("; dtype '", Inspection::kDTypes[i], "' needs ", size_text(memory[i]));
      if (!folder_.dtype) severity = Problem::Severity::warning;
    }
    found_.problems.push_back({ErrorCode::out_of_memory,
                               severity,
                               concat("the weights need ", size_text(memory[wanted]), " in ",
                                      Inspection::kDTypes[wanted], ", of ", size_text(limit), cure),
                               {}});
  }

  Inspection::Memory memory_of(std::uint64_t others, const std::vector<MatrixRequest>& matrices,
                               std::string_view without = {}) const {
    Inspection::Memory bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const MatrixPlan plan = plan_matrices(*folder_.config, found_.config->task,
                                            *matrix_format_named(Inspection::kDTypes[i]));
      bytes[i] = others;
      for (const MatrixRequest& matrix : matrices) {
        if (!without.empty() && matrix.stored == without) continue;
        const MatrixPlan::Entry* planned = plan.find(matrix.stored);
        bytes[i] += Matrix::bytes_of(planned == nullptr ? MatrixFormat::f32 : planned->format,
                                     matrix.outputs, matrix.inputs);
      }
    }
    return bytes;
  }

  void report(const Weights& weights) {
    std::vector<Weights::Problem> problems = weights.unfinished();
    problems.insert(problems.begin(), weights.problems().begin(), weights.problems().end());
    for (const Weights::Problem& problem : problems) {
      if (problem.code == ErrorCode::missing_tensor) found_.missing.push_back(problem.tensor);
      found_.problems.push_back({problem.code, Problem::Severity::error, problem.text, {}});
    }
  }

  const InspectedFolder& folder_;
  Inspection found_;
  std::size_t files_ = 1;  // of the checkpoint
};

}  // namespace

Inspection inspect(const InspectedFolder& folder) {
  return typed_memory([&] { return Inspector(folder).run(); });
}

namespace {

std::string_view to_string(Problem::Severity severity) {
  return severity == Problem::Severity::error ? "error" : "warning";
}

void write_memory(JsonWriter& json, std::string_view key, const Inspection::Memory* memory) {
  if (memory == nullptr) return json.key(key).null();
  json.key(key).open('{');
  for (std::size_t i = 0; i < memory->size(); ++i) {
    json.key(Inspection::kDTypes[i]).count((*memory)[i]);
  }
  json.close('}');
}

void write_cache(JsonWriter& json, const std::optional<Inspection::Cache>& cache) {
  if (!cache) return json.key("cache").null();
  json.key("cache").open('{');
  for (std::size_t i = 0; i < cache->size(); ++i) {
    json.key(to_string(Inspection::kCacheFormats[i])).open('{');
    json.key("per_position").count((*cache)[i].per_position);
    json.key("per_source_position").count((*cache)[i].per_source_position);
    if ((*cache)[i].per_sequence != 0) json.key("per_sequence").count((*cache)[i].per_sequence);
    json.close('}');
  }
  json.close('}');
}

void write_problems(JsonWriter& json, const Inspection& inspection) {
  json.key("problems").open('[');
  for (const Problem& problem : inspection.problems) {
    json.open('{');
    json.key("code").text(to_string(problem.code));
    json.key("severity").text(to_string(problem.severity));
    json.key("message").text(problem.text);
    if (!problem.file.empty()) json.key("file").text(problem.file);
    json.close('}');
  }
  json.close(']');
}

void write_modalities(JsonWriter& json, const ModelConfig& config) {
  json.key("input_modalities").open('[');
  const auto has = [&](const auto& part) {
    return config.tower.*part || (config.second && (*config.second).*part);
  };
  if (has(&TowerConfig::text)) json.text("text");
  const bool sound = config.tower.reads_spectrograms();
  if (has(&TowerConfig::image) && !sound) json.text("image");
  if (has(&TowerConfig::audio) || has(&TowerConfig::waveform) || sound) json.text("audio");
  json.close(']');
}

}  // namespace

std::string to_json(const Inspection& inspection) {
  JsonWriter json;
  json.open('{');
  const auto text_or_null = [&](std::string_view key, std::string_view text) {
    text.empty() ? json.key(key).null() : json.key(key).text(text);
  };
  text_or_null("model_type", inspection.model_type);
  json.key("architectures").texts(inspection.classes);
  if (const auto& config = inspection.config) {
    json.key("kind").text(to_string(config->kind));
    json.key("task").text(to_string(config->task));
    write_modalities(json, *config);
  }
  text_or_null("pipeline", inspection.pipeline);
  json.key("pipelines").texts(inspection.pipelines);
  json.key("parameters");
  inspection.parameters ? json.count(*inspection.parameters) : json.null();
  write_memory(json, "memory", inspection.memory ? &*inspection.memory : nullptr);
  write_memory(json, "peak", inspection.memory ? &inspection.peak : nullptr);
  text_or_null("fits", inspection.fits);
  write_cache(json, inspection.cache);
  json.key("readable").texts(inspection.readable);
  json.key("missing_tensors").texts(inspection.missing);
  json.key("unexpected_tensors").texts(inspection.unexpected);
  json.key("same_tensors").texts(inspection.same);
  write_problems(json, inspection);
  json.close('}');
  return json.json();
}

}  // namespace clearformer
