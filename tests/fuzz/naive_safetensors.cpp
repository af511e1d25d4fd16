#include "naive_safetensors.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "naive_json.h"

namespace clearformer::fuzz {

namespace {

using Kind = NaiveJson::Kind;

// Bits per element for each dtype of the format.
const std::map<std::string, std::uint64_t, std::less<>>& bits() {
  static const std::map<std::string, std::uint64_t, std::less<>> all = {
      {"BOOL", 8}, {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
      {"I8", 8},   {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
      {"U16", 16}, {"F16", 16},    {"BF16", 16},   {"I32", 32},    {"U32", 32},
      {"F32", 32}, {"C64", 64},    {"F64", 64},    {"I64", 64},    {"U64", 64}};
  return all;
}

// a · b, if it fits 64 bits.
bool multiply(std::uint64_t& a, std::uint64_t b) {
  if (b != 0 && a > ~std::uint64_t{0} / b) return false;
  a *= b;
  return true;
}

// The size implied by dtype and shape: elements first, then bits, each within 64 bits, in whole bytes.
std::optional<std::uint64_t> bytes_of(const NaiveTensor& tensor) {
  const auto width = bits().find(tensor.dtype);
  if (width == bits().end()) return std::nullopt;
  std::uint64_t total = 1;
  for (const std::uint64_t dim : tensor.shape) {
    if (!multiply(total, dim)) return std::nullopt;
  }
  if (!multiply(total, width->second) || total % 8 != 0) return std::nullopt;
  return total / 8;
}

bool are_numbers(const NaiveJson* list) {
  return list != nullptr && list->kind == Kind::list &&
         std::all_of(list->items.begin(), list->items.end(),
                     [](const NaiveJson& item) { return item.kind == Kind::number; });
}

bool are_texts(const NaiveJson& object) {
  return object.kind == Kind::object &&
         std::all_of(object.items.begin(), object.items.end(),
                     [](const NaiveJson& item) { return item.kind == Kind::text; });
}

std::optional<NaiveTensor> tensor_of(const std::string& name, const NaiveJson& entry,
                                     std::string_view data) {
  const NaiveJson* dtype = entry.find("dtype");
  const NaiveJson* shape = entry.find("shape");
  const NaiveJson* offsets = entry.find("data_offsets");
  if (entry.kind != Kind::object || entry.items.size() != 3 || dtype == nullptr) return {};
  if (dtype->kind != Kind::text || !are_numbers(shape) || !are_numbers(offsets)) return {};
  if (offsets->items.size() != 2) return {};
  NaiveTensor tensor{name, dtype->text, {}, offsets->items[0].number, offsets->items[1].number, {}};
  for (const NaiveJson& dim : shape->items) tensor.shape.push_back(dim.number);
  if (tensor.begin > tensor.end || tensor.end > data.size()) return {};
  const bool known = bits().count(tensor.dtype) != 0;  // the size of other dtypes is not known
  if (known && bytes_of(tensor) != tensor.end - tensor.begin) return {};
  tensor.bytes = data.substr(static_cast<std::size_t>(tensor.begin),
                             static_cast<std::size_t>(tensor.end - tensor.begin));
  return tensor;
}

}  // namespace

std::optional<std::vector<NaiveTensor>> read_naively(std::string_view file) {
  if (file.size() < 8) return std::nullopt;
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    length |= std::uint64_t{static_cast<unsigned char>(file[i])} << (8 * i);
  }
  if (length > 100'000'000 || length > file.size() - 8) return std::nullopt;
  const std::string_view header = file.substr(8, static_cast<std::size_t>(length));
  const std::string_view data = file.substr(8 + header.size());
  if (header.empty() || header.front() != '{') return std::nullopt;
  const auto root = parse_naively(header);
  if (!root || root->kind != Kind::object) return std::nullopt;
  std::vector<NaiveTensor> tensors;
  for (std::size_t i = 0; i < root->items.size(); ++i) {
    const std::string& name = root->keys[i];
    const NaiveJson& entry = root->items[i];
    if (name == "__metadata__") {
      if (!are_texts(entry)) return std::nullopt;
      continue;
    }
    auto tensor = tensor_of(name, entry, data);
    if (!tensor) return std::nullopt;
    tensors.push_back(std::move(*tensor));
  }
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const NaiveTensor& tensor : tensors) {
    if (tensor.begin != covered) return std::nullopt;
    covered = tensor.end;
  }
  if (covered != data.size()) return std::nullopt;
  return tensors;
}

}  // namespace clearformer::fuzz
