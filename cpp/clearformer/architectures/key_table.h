// KeyTable: what one of transformers' config classes makes of the keys in a config.json. An architecture
// reads its config through its own table alone, so that no key can mean in one family what it means in
// another. Each group is written as the members of a JSON object; tests compare the tables with
// transformers' classes (tests/fixtures/config_keys/classes.json).
#pragma once

#include <string_view>

#include "clearformer/weights/config_reader.h"

namespace clearformer {

struct KeyTable {
  /// Fields of the class that are read here, with the class's defaults.
  std::string_view fields;
  /// No fields, but read all the same: spellings of transformers 4, which 5 converts when it loads
  /// them, and attributes that models look up by name.
  std::string_view others = "";
  /// Obeyed since transformers 5.2 without being fields.
  std::string_view since_5_2 = "";
  /// Obeyed there and not here, with the value that changes nothing: any other is refused by name.
  std::string_view neutral = "";
  /// Other names of fields, which count before the fields' own.
  std::string_view other_names = "";
};

/// The config as the class sees it: the keys of its table, with the defaults for those that are
/// missing; transformers ignores the rest. Throws unsupported for a neutral key with another value.
ConfigReader declared(const ConfigReader& config, const KeyTable& table);

}  // namespace clearformer
