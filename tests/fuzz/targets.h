// What is fuzzed: functions that take any bytes and must come back, whatever they are. libFuzzer calls one in each
// program of `npm run fuzz`; tests/cpp/fuzz replays seeds and simple mutations of them in every build.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer::fuzz {

/// Something that was promised does not hold. Whatever leaves a target, this or another exception, is a finding.
class Violation : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws a Violation unless `holds`.
inline void promise(bool holds, const char* what) {
  if (!holds) throw Violation(what);
}

struct Target {
  std::string_view name;
  /// Refusals (clearformer::Error) are caught within.
  void (*run)(std::string_view bytes);
  /// Inputs to begin with, made from tests/fixtures.
  std::vector<std::string> (*seeds)();
  /// How many mutations a replay tries: some tenths of a second.
  std::size_t rounds;
};

void run_container(std::string_view bytes);
std::vector<std::string> container_seeds();
void run_config(std::string_view bytes);
std::vector<std::string> config_seeds();
void run_index(std::string_view bytes);
std::vector<std::string> index_seeds();
void run_model(std::string_view bytes);
std::vector<std::string> model_seeds();
void run_options(std::string_view bytes);
std::vector<std::string> options_seeds();

inline constexpr Target kTargets[] = {
    {"container", run_container, container_seeds, 8000},
    {"config", run_config, config_seeds, 2500},
    {"index", run_index, index_seeds, 4000},
    {"model", run_model, model_seeds, 1500},
    {"options", run_options, options_seeds, 2000},
};

/// The target of that name; null where there is none.
const Target* find_target(std::string_view name);

/// Texts that mutations may put in: keys of every architecture's table and strings of the seeds.
std::vector<std::string> dictionary(const Target& target);

/// The folders of the tiny checkpoints, one or more for each architecture, below tests/fixtures/models.
const std::vector<std::string>& tiny_folders();

}  // namespace clearformer::fuzz
