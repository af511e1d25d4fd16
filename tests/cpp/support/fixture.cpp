#include "support/fixture.h"

#include <cstring>
#include <stdexcept>

#include "clearformer/weights/safetensors.h"
#include "support/files.h"

namespace clearformer::test {

namespace {

template <class To, class From>
Tensor converted(const Tensor& from) {
  Tensor to(from.shape(), DTypeOf<To>::value);
  for (std::size_t i = 0; i < from.elements(); ++i) {
    to.mutable_view().as<To>()[i] = static_cast<To>(from.view().as<From>()[i]);
  }
  return to;
}

}  // namespace

TensorMap read_tensors(const std::string& path) {
  const std::string bytes = read_bytes(path);
  const std::uint64_t header = SafetensorsHeader::header_bytes(
      reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), path);
  const std::size_t data = static_cast<std::size_t>(SafetensorsHeader::kPrefixBytes + header);
  const std::string_view json =
      std::string_view(bytes).substr(SafetensorsHeader::kPrefixBytes, data - 8);
  TensorMap tensors;
  for (const StoredTensor& stored :
       SafetensorsHeader::parse(json, bytes.size() - data, path).tensors) {
    if (stored.dtype != "F32" && stored.dtype != "I64") {
      throw std::runtime_error(path + ": " + stored.name + " is " + stored.dtype);
    }
    Tensor tensor(stored.native_shape(), stored.dtype == "F32" ? DType::f32 : DType::i64);
    std::memcpy(tensor.data(), bytes.data() + data + stored.begin,
                static_cast<std::size_t>(stored.end - stored.begin));
    tensors.emplace(stored.name, std::move(tensor));
  }
  return tensors;
}

const Json& Case::option(const std::string& name) const {
  const Json* value = options().find(name);
  if (value == nullptr) throw std::runtime_error(this->name() + ": no option " + name);
  return *value;
}

std::size_t Case::size_option(const std::string& name) const {
  return static_cast<std::size_t>(option(name).number());
}

const Json& Case::member(const std::string& name) const {
  const Json* value = json_->find(name);
  if (value == nullptr) throw std::runtime_error(this->name() + ": no " + name);
  return *value;
}

bool Case::has_input(const std::string& name) const {
  return json_->find("inputs")->find(name) != nullptr;
}

bool Case::has_output(const std::string& name) const {
  return json_->find("outputs")->find(name) != nullptr;
}

std::vector<std::string> Case::names_of(const char* side) const {
  std::vector<std::string> names;
  for (const auto& [name, key] : json_->find(side)->object()) names.push_back(name);
  return names;
}

const Tensor& Case::tensor(const char* side, const std::string& name) const {
  const Json* key = json_->find(side)->find(name);
  if (key == nullptr) throw std::runtime_error(this->name() + ": no " + name + " in " + side);
  return tensors_->at(key->string());
}

Weights Case::state_dict() const {
  Weights weights;
  const Json* prefix = json_->find("weights");
  if (prefix == nullptr) return weights;
  for (const auto& [key, tensor] : *tensors_) {
    if (key.rfind(prefix->string(), 0) != 0) continue;
    weights.add(key.substr(prefix->string().size()), "fixture", tensor.clone());
  }
  return weights;
}

Tensor Case::int32_input(const std::string& name) const {
  return converted<std::int32_t, std::int64_t>(input(name));
}

std::vector<std::int32_t> Case::int32_output(const std::string& name) const {
  const Tensor values = converted<std::int32_t, std::int64_t>(output(name));
  const auto* first = values.view().as<std::int32_t>();
  return {first, first + values.elements()};
}

Tensor Case::uint8_input(const std::string& name) const {
  return converted<std::uint8_t, std::int64_t>(input(name));
}

Fixture::Fixture(const std::string& group) {
  const std::string path = fixture_path(group + "/cases.json");
  json_ = Json::parse(read_bytes(path), path, ErrorCode::malformed_file);
  for (const Json& entry : json_.find("cases")->array()) {
    const Json* named = entry.find("file");  // absent if a case has no tensors
    const std::string file = named == nullptr ? "" : named->string();
    if (!file.empty() && files_.find(file) == files_.end()) {
      files_.emplace(file, read_tensors(fixture_path(group + "/" + file)));
    }
    cases_.emplace_back(entry, files_[file]);
  }
}

const Case& Fixture::at(const std::string& name) const {
  for (const Case& entry : cases_) {
    if (entry.name() == name) return entry;
  }
  throw std::runtime_error("no case " + name);
}

std::vector<const Case*> Fixture::of_op(const std::string& op) const {
  std::vector<const Case*> found;
  for (const Case& entry : cases_) {
    if (entry.op() == op) found.push_back(&entry);
  }
  if (found.empty()) throw std::runtime_error("no case of " + op);
  return found;
}

}  // namespace clearformer::test
