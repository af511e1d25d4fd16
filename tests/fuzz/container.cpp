// Target: a safetensors file, read by the library in chunks and by a second parser at once. Both accept the same
// files and find the same tensors, byte for byte.
#include <algorithm>
#include <cstring>
#include <optional>

#include "clearformer/tensor/dtype.h"
#include "naive_safetensors.h"
#include "support/files.h"
#include "support/safetensors_file.h"
#include "targets.h"

namespace clearformer::fuzz {

namespace {

std::optional<SafetensorsHeader> header_of(std::string_view file) {
  try {
    return SafetensorsHeader::read(file, file.size(), "file");
  } catch (const Error& error) {
    promise(error.code() == ErrorCode::malformed_file, "a wrong header has another code");
    promise(*error.what() != '\0', "a refusal says nothing");
    return std::nullopt;
  }
}

void expect_same_tensors(const SafetensorsHeader& header, const std::vector<NaiveTensor>& naive) {
  promise(header.tensors.size() == naive.size(), "another number of tensors");
  for (const StoredTensor& stored : header.tensors) {
    const auto twin = std::find_if(naive.begin(), naive.end(),
                                   [&](const auto& other) { return other.name == stored.name; });
    promise(twin != naive.end(), "a tensor has another name");
    promise(stored.dtype == twin->dtype && stored.shape == twin->shape, "another dtype or shape");
    promise(stored.begin == twin->begin && stored.end == twin->end, "another place");
  }
}

float widened(const NaiveTensor& tensor, std::size_t i) {
  if (tensor.dtype == "F32") {
    float value;
    std::memcpy(&value, tensor.bytes.data() + 4 * i, sizeof value);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, tensor.bytes.data() + 2 * i, sizeof bits);
  return tensor.dtype == "F16" ? float_from_f16(bits) : float_from_bf16(bits);
}

void expect_same_values(const Tensor& tensor, const NaiveTensor& naive) {
  if (tensor.dtype() != DType::f32) return;
  for (std::size_t i = 0; i < tensor.elements(); ++i) {
    const float expected = widened(naive, i);
    promise(std::memcmp(&tensor.f32()[i], &expected, sizeof expected) == 0, "another value");
  }
}

// Reads the file in chunks whose size depends on its own.
void read_values(std::string_view file, const std::vector<NaiveTensor>& naive) {
  try {
    Weights weights = test::read_safetensors(file, 1 + file.size() % 61);
    for (const NaiveTensor& tensor : naive) {
      const Shape* shape = weights.shape(tensor.name);
      promise(shape != nullptr, "a tensor was lost");
      if (tensor.dtype != "F32" && tensor.dtype != "F16" && tensor.dtype != "BF16") continue;
      expect_same_values(weights.take({tensor.name}, *shape), tensor);
    }
  } catch (const Error& error) {
    // Unsupported dtypes, too many axes, sizes beyond this machine.
    const bool right =
        error.code() == ErrorCode::unsupported || error.code() == ErrorCode::out_of_memory;
    promise(right, "a right file is refused by what reads its values");
  }
}

}  // namespace

void run_container(std::string_view bytes) {
  const auto header = header_of(bytes);
  const auto naive = read_naively(bytes);
  promise(!header || naive, "accepted by the library, refused by the second reader");
  promise(header || !naive, "refused by the library, accepted by the second reader");
  if (header) {
    expect_same_tensors(*header, *naive);
    read_values(bytes, *naive);
    return;
  }
  try {
    test::read_safetensors(bytes, 1 + bytes.size() % 61);
    throw Violation("read to its end, with a header that is refused");
  } catch (const Error&) {
  }
}

std::vector<std::string> container_seeds() {
  // Dtypes of 16 and 32 bits, an empty tensor, a scalar, metadata.
  std::vector<std::string> seeds = {
      test::safetensors(
          R"({"__metadata__": {"format": "pt"}, "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
"b": {"dtype": "F16", "shape": [5], "data_offsets": [24, 34]}, "c": {"dtype": "BF16", "shape": [1, 2, 2],
"data_offsets": [34, 42]}, "d": {"dtype": "I64", "shape": [0], "data_offsets": [42, 42]}})",
          std::string(42, '\x3c')),
      test::safetensors(
          R"({"\u00e9\ud83d\ude00": {"dtype":"F32","shape":[],"data_offsets":[0,4]}}   )",
          "\x01\x02\x03\x04"),
      test::safetensors(
          R"({"x":{"dtype":"F4","shape":[2],"data_offsets":[0,1]},"y":{"dtype":"BOOL","shape":[1,1],"data_offsets":[1,2]}})",
          "ab"),
      test::safetensors("{}")};
  for (const char* name : {"empty", "metadata_format", "metadata_prompt"}) {
    seeds.push_back(
        test::read_bytes(test::fixture_path(std::string("tensor_files/") + name + ".safetensors")));
  }
  return seeds;
}

}  // namespace clearformer::fuzz
