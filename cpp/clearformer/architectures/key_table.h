// KeyTable: how one of transformers' config classes interprets the keys of a config.json. An architecture
// reads its config only through its own table, so that a key cannot get its meaning from another family.
// Each group is written as the members of a JSON object; tests compare the tables with
// transformers' classes (tests/fixtures/config_keys/classes.json).
#pragma once

#include <string_view>

#include "clearformer/weights/config_reader.h"

namespace clearformer {

struct KeyTable {
  /// Fields of the class that are supported, with the class's defaults.
  std::string_view fields;
  /// More of them: those with the same defaults in the classes of relatives.
  std::string_view shared_fields = "";
  /// Supported keys that are not fields: names from transformers 4, which version 5 converts on loading,
  /// and attributes that models look up by name.
  std::string_view others = "";
  /// Supported since transformers 5.2 without being fields.
  std::string_view since_5_2 = "";
  /// Supported by transformers but not here, with the neutral value: any other value is rejected by name.
  std::string_view neutral = "";
  /// Other names of fields, which take precedence over the fields' own.
  std::string_view other_names = "";
};

/// The config as the class sees it: the keys of its table, with defaults for missing ones; other keys are ignored, as
/// by transformers. Throws unsupported for a neutral key with another value.
ConfigReader declared(const ConfigReader& config, const KeyTable& table);

}  // namespace clearformer
