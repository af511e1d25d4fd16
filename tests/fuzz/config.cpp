// Target: a config.json, and the same text as generation_config.json. It is rejected with a typed error, or gives a
// plan of the weights it needs; inspection agrees, in JSON.
#include <optional>

#include "clearformer/generation/generation_config.h"
#include "clearformer/loading/inspection.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/weights/json.h"
#include "support/files.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

// The code of the error, if any.
template <class Work>
std::optional<ErrorCode> refusal(Work work) {
  try {
    work();
    return std::nullopt;
  } catch (const Error& error) {
    promise(*error.what() != '\0', "a refusal says nothing");
    return error.code();
  }
}

bool has_error(const Inspection& inspection) {
  for (const Problem& problem : inspection.problems) {
    if (problem.severity == Problem::Severity::error) return true;
  }
  return false;
}

}  // namespace

void run_config(std::string_view bytes) {
  const std::string text(bytes);
  const auto refused = refusal([&] {
    plan_matrices(text, std::nullopt, [](const MatrixRequest&) { return MatrixFormat::q8; });
  });
  promise(!refused || *refused == ErrorCode::malformed_config ||
              *refused == ErrorCode::unsupported || *refused == ErrorCode::out_of_memory,
          "a config is refused with the code of something else");
  InspectedFolder folder;
  folder.config = text;
  const Inspection inspection = inspect(folder);
  const std::string json = to_json(inspection);
  Json::parse(json, "inspection", ErrorCode::invalid_argument);
  promise(!refused || has_error(inspection), "a config that is refused has no problem");
  const auto generation = refusal([&] {
    GenerationConfig config;
    config.update(ConfigReader(text, "generation_config.json"), GenerationConfig::Unknown::ignore);
    config.check();
  });
  promise(generation != ErrorCode::malformed_file,
          "a generation config is refused as a file of weights");
}

std::vector<std::string> config_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& folder : tiny_folders()) {
    const std::string path = test::fixture_path("models/" + folder);
    seeds.push_back(test::read_bytes(path + "/config.json"));
    const std::string generation = path + "/generation_config.json";
    if (test::file_exists(generation)) seeds.push_back(test::read_bytes(generation));
  }
  return seeds;
}

}  // namespace clearformer::fuzz
