// Inspection: what is in a checkpoint's folder, what its model needs and what is wrong with it, told
// from config.json and the headers of the weights. No weight is read.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clearformer/models/cost.h"
#include "clearformer/weights/safetensors.h"

namespace clearformer {

/// Something that is wrong. An error keeps the model from being loaded, a warning does not.
struct Problem {
  enum class Severity { error, warning };
  ErrorCode code;
  Severity severity = Severity::error;
  std::string text;
  std::string file;  // where it is one file's
};

/// Problems in the order they were met.
class Problems : public std::vector<Problem> {
 public:
  /// Does `work`; what it throws becomes a problem of that file.
  template <class Work>
  void collect(std::string_view file, Work work) {
    collect_from(file, [](void* given) { (*static_cast<Work*>(given))(); }, &work);
  }

 private:
  void collect_from(std::string_view file, void (*call)(void*), void* work);
};

/// What is looked at.
struct InspectedFolder {
  /// A safetensors file by its beginning.
  struct File {
    std::string name;
    std::uint64_t bytes = 0;  // of the whole file
    std::string start;        // its first bytes, to the end of the header if they are there
  };
  std::optional<std::string> config;  // config.json, as text
  std::optional<std::string> index;   // model.safetensors.index.json, as text
  std::vector<File> files;            // safetensors files
  std::optional<std::string> task;    // see task_named(); none: what the config names
  std::optional<std::string> dtype;   // it is to be loaded in; none: any will do
  Problems problems;                  // files that cannot be opened

  /// Those of a folder on disk. What is wrong with them is among the problems.
  static InspectedFolder read(const std::string& folder);
};

/// What a folder holds, what it takes and what is wrong with it.
struct Inspection {
  /// A tensor and the file it is in.
  struct Tensor {
    std::string file;
    StoredTensor stored;
  };
  /// The formats that memory is told for.
  static constexpr std::string_view kDTypes[] = {"fp32", "fp16", "q8", "q4"};
  using Memory = std::array<std::uint64_t, std::size(kDTypes)>;

  std::string model_type;                   // also where it is not supported; may be empty
  std::vector<std::string> classes;         // "architectures" of config.json
  std::optional<ModelConfig> config;        // where the architecture and the head are supported
  std::string_view pipeline;                // that does the config's task; may be empty
  std::vector<std::string_view> pipelines;  // that the architecture has heads for
  std::vector<std::string> readable;        // files whose header is right
  std::vector<Tensor> tensors;              // file by file, in the order of their data
  std::optional<std::uint64_t> parameters;  // stored or, where no header was read, needed
  std::optional<Memory> memory;             // of the weights
  std::optional<CacheBytes> cache;          // where tokens are generated
  std::vector<std::string> missing, unexpected;  // tensors
  Problems problems;
};

/// Throws nothing but out_of_memory: what is wrong is among the problems. An output layer of its own
/// counts, though the config ties it to the table of words: whether they differ only their bytes tell.
Inspection inspect(const InspectedFolder& folder);

/// All of it as a JSON object, but for the tensors, which the headers list, and the config.
std::string to_json(const Inspection& inspection);

}  // namespace clearformer
