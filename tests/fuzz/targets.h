// The fuzz targets: functions that accept any bytes and must return. libFuzzer calls one in each
// program of `npm run fuzz`; tests/cpp/fuzz replays seeds and simple mutations of them in every build.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace clearformer::fuzz {

/// An invariant does not hold. Any exception from a target, this or another, is a finding.
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
  /// Refusals (clearformer::Error) are caught inside.
  void (*run)(std::string_view bytes);
  /// Initial inputs, made from tests/fixtures.
  std::vector<std::string> (*seeds)();
  /// The number of mutations that a replay tries, for some tenths of a second.
  std::size_t rounds;
};

void run_container(std::string_view bytes);
std::vector<std::string> container_seeds();
void run_config(std::string_view bytes);
std::vector<std::string> config_seeds();
void run_index(std::string_view bytes);
std::vector<std::string> index_seeds();
void run_interventions(std::string_view bytes);
std::vector<std::string> interventions_seeds();
void run_model(std::string_view bytes);
std::vector<std::string> model_seeds();
void run_options(std::string_view bytes);
std::vector<std::string> options_seeds();

inline constexpr Target kTargets[] = {
    {"container", run_container, container_seeds, 8000},
    {"config", run_config, config_seeds, 2500},
    {"index", run_index, index_seeds, 4000},
    {"interventions", run_interventions, interventions_seeds, 300},
    {"model", run_model, model_seeds, 1500},
    {"options", run_options, options_seeds, 2000},
};

/// The target of that name; null if there is none.
const Target* find_target(std::string_view name);

/// Words that mutations may insert: keys of every architecture's table and strings of the seeds.
std::vector<std::string> dictionary(const Target& target);

/// The folders of the tiny checkpoints, at least one per architecture, under tests/fixtures/models.
const std::vector<std::string>& tiny_folders();

}  // namespace clearformer::fuzz
