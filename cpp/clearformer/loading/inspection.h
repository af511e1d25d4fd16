// Inspection: what a checkpoint folder holds, what its model needs and what is wrong with it, from config.json and the
// headers of the weights. No weight is read.
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

/// A problem. Errors prevent the model from loading, warnings do not.
struct Problem {
  enum class Severity { error, warning };
  ErrorCode code;
  Severity severity = Severity::error;
  std::string text;
  std::string file;  // if it concerns one file
};

/// Problems in the order they were found.
class Problems : public std::vector<Problem> {
 public:
  /// Runs `work` and turns what it throws into a problem of that file.
  template <class Work>
  void collect(std::string_view file, Work work) {
    collect_from(file, [](void* given) { (*static_cast<Work*>(given))(); }, &work);
  }

  void collect_from(std::string_view file, void (*call)(void*), void* work);
};

/// The input of an inspection.
struct InspectedFolder {
  /// A safetensors file by its first bytes.
  struct File {
    std::string name = {};
    std::uint64_t bytes = 0;  // of the whole file
    std::string start = {};   // its first bytes, up to the end of the header if available
  };
  std::optional<std::string> config = {};  // config.json, as text
  std::optional<std::string> index = {};   // model.safetensors.index.json, as text
  std::vector<File> files = {};            // the safetensors files
  std::optional<std::string> task = {};    // see task_named(); none: the config's
  std::optional<std::string> dtype = {};   // the dtype to load in; none: any
  Problems problems = {};                  // files that cannot be opened

  /// Reads a folder on disk. What cannot be read is recorded among the problems.
  static InspectedFolder read(const std::string& folder);
};

/// What a folder holds, what it needs and what is wrong with it.
struct Inspection {
  /// A tensor and the file it is in.
  struct Tensor {
    std::string file;
    StoredTensor stored;
  };
  /// The dtypes for which memory is reported.
  static constexpr std::string_view kDTypes[] = {"fp32", "fp16", "q8", "q4"};
  /// Positions of the call for which the peak is told, or as many as the model reads.
  static constexpr std::size_t kPrompt = 512;
  using Memory = std::array<std::uint64_t, std::size(kDTypes)>;
  /// The formats of the key/value cache for which its size is reported.
  static constexpr CacheFormat kCacheFormats[] = {CacheFormat::f32, CacheFormat::f16,
                                                  CacheFormat::q8};
  using Cache = std::array<CacheBytes, std::size(kCacheFormats)>;

  std::string model_type;                        // also if it is not supported; may be empty
  std::vector<std::string> classes;              // "architectures" of config.json
  std::optional<ModelConfig> config;             // if the architecture and the head are supported
  std::string_view pipeline;                     // for the config's task; may be empty
  std::vector<std::string_view> pipelines;       // that the architecture has heads for
  std::vector<std::string> readable;             // files with a valid header
  std::vector<Tensor> tensors;                   // by file, in the order of their data
  std::optional<std::uint64_t> parameters;       // stored or, if no header was read, required
  std::optional<Memory> memory;                  // of the weights
  Memory peak{};                                 // … and of a call of kPrompt positions
  std::string_view fits;                         // the dtype with most bits that fits; may be empty
  std::optional<Cache> cache;                    // if the model generates tokens
  std::vector<std::string> missing, unexpected;  // tensors
  std::vector<std::string> same;                 // as in SettledTies
  Problems problems;
};

/// Throws only out_of_memory: everything wrong is among the problems. An output layer stored beside a tied embedding
/// table is counted in the memory of the weights, as the files are loaded; the peak of a call assumes that the two are
/// equal, which can be seen from their bytes only.
Inspection inspect(const InspectedFolder& folder);

/// Serialises it as a JSON object, without the config and the tensors, which the headers list.
std::string to_json(const Inspection& inspection);

}  // namespace clearformer
