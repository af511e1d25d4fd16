// The reference values of tests/fixtures: cases.json and the safetensors files it names
// (see tests/references/README.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clearformer/tensor/tensor.h"
#include "clearformer/weights/json.h"
#include "clearformer/weights/weights.h"

namespace clearformer::test {

/// The tensors of one safetensors file: float32 or int64.
using TensorMap = std::map<std::string, Tensor>;
TensorMap read_tensors(const std::string& path);

class Case {
 public:
  Case(const Json& json, const TensorMap& tensors) : json_(&json), tensors_(&tensors) {}

  std::string name() const { return json_->find("name")->string(); }
  std::string op() const { return json_->find("op")->string(); }
  const Json& options() const { return *json_->find("options"); }
  /// The option of that name; throws if it is absent.
  const Json& option(const std::string& name) const;
  std::size_t size_option(const std::string& name) const;
  /// Any other member of the case; throws if it is absent.
  const Json& member(const std::string& name) const;
  bool has_member(const std::string& name) const { return json_->find(name) != nullptr; }

  const Tensor& input(const std::string& name) const { return tensor("inputs", name); }
  const Tensor& output(const std::string& name) const { return tensor("outputs", name); }
  bool has_input(const std::string& name) const;
  bool has_output(const std::string& name) const;
  std::vector<std::string> inputs() const { return names_of("inputs"); }
  std::vector<std::string> outputs() const { return names_of("outputs"); }

  /// The tensors under the case's weights prefix, by their state_dict keys.
  Weights state_dict() const;

  /// An int64 input or output as int32, the models' type.
  Tensor int32_input(const std::string& name) const;
  std::vector<std::int32_t> int32_output(const std::string& name) const;
  /// A mask of int64 zeros and ones as uint8.
  Tensor uint8_input(const std::string& name) const;

 private:
  const Tensor& tensor(const char* side, const std::string& name) const;
  std::vector<std::string> names_of(const char* side) const;
  const Json* json_;
  const TensorMap* tensors_;
};

/// One folder of tests/fixtures.
class Fixture {
 public:
  explicit Fixture(const std::string& group);
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  const std::vector<Case>& cases() const { return cases_; }
  /// The case of that name; throws if there is none.
  const Case& at(const std::string& name) const;
  /// All cases of an operation; throws if there are none.
  std::vector<const Case*> of_op(const std::string& op) const;

 private:
  Json json_;
  std::map<std::string, TensorMap> files_;
  std::vector<Case> cases_;
};

}  // namespace clearformer::test
