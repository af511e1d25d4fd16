#include "clearformer/weights/safetensors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "clearformer/weights/json.h"

namespace clearformer {

namespace {

template <class... Parts>
[[noreturn]] void refuse(std::string_view file, const Parts&... rule) {
  fail(ErrorCode::malformed_file, file, ": ", rule...);
}

std::uint64_t unsigned_or_refuse(const Json& value, std::string_view file, const std::string& name,
                                 std::string_view what) {
  const auto number = value.unsigned_integer();
  if (!number) refuse(file, "tensor \"", name, "\": ", what, " must be whole numbers >= 0");
  return *number;
}

// Reads one tensor's dtype, shape and byte range, each of the right JSON type, with no other key.
StoredTensor read_entry(const std::string& name, const Json& entry, std::string_view file) {
  if (!entry.is_object()) refuse(file, "tensor \"", name, "\": its entry must be a JSON object");
  for (const auto& [key, value] : entry.object()) {
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      refuse(file, "tensor \"", name, "\": unknown key \"", key, "\"");
    }
  }
  const Json* dtype = entry.find("dtype");
  const Json* shape = entry.find("shape");
  const Json* offsets = entry.find("data_offsets");
  if (dtype == nullptr || !dtype->is_string()) refuse(file, "tensor \"", name, "\": no dtype");
  if (shape == nullptr || !shape->is_array()) refuse(file, "tensor \"", name, "\": no shape");
  if (offsets == nullptr || !offsets->is_array() || offsets->array().size() != 2) {
    refuse(file, "tensor \"", name, "\": data_offsets must be [begin, end]");
  }
  StoredTensor tensor{name, dtype->string(), {}, 0, 0};
  for (const Json& dim : shape->array()) {
    tensor.shape.push_back(unsigned_or_refuse(dim, file, name, "shape entries"));
  }
  tensor.begin = unsigned_or_refuse(offsets->array()[0], file, name, "data_offsets");
  tensor.end = unsigned_or_refuse(offsets->array()[1], file, name, "data_offsets");
  return tensor;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += concat(axis == 0 ? "" : ", ", shape[axis]);
  }
  return text + "]";
}

// The bytes implied by dtype and shape, in checked 64-bit arithmetic; nullopt for an unknown dtype.
std::optional<std::uint64_t> expected_bytes(const StoredTensor& tensor, std::string_view file) {
  const auto bits = SafetensorsHeader::bits_of(tensor.dtype);
  if (!bits) return std::nullopt;
  std::uint64_t total = *bits;
  bool overflow = false;
  for (const std::uint64_t dim : tensor.shape) {
    overflow |= __builtin_mul_overflow(total, dim, &total);
  }
  if (overflow) {
    refuse(file, "tensor \"", tensor.name, "\": shape ", shape_text(tensor.shape),
           " overflows 64-bit arithmetic");
  }
  if (total % 8 != 0) {
    refuse(file, "tensor \"", tensor.name, "\": its elements do not fill whole bytes");
  }
  return total / 8;
}

void check_range(const StoredTensor& tensor, std::uint64_t data_bytes, std::string_view file) {
  if (tensor.begin > tensor.end) {
    refuse(file, "tensor \"", tensor.name, "\": data_offsets [", tensor.begin, ", ", tensor.end,
           "] run backwards");
  }
  if (tensor.end > data_bytes) {
    refuse(file, "tensor \"", tensor.name, "\": data_offsets end at ", tensor.end,
           ", the file has ", data_bytes, " data bytes");
  }
  const auto expected = expected_bytes(tensor, file);
  if (expected && tensor.end - tensor.begin != *expected) {
    refuse(file, "tensor \"", tensor.name, "\": ", tensor.dtype, " of shape ",
           shape_text(tensor.shape), " takes ", *expected, " bytes, data_offsets span ",
           tensor.end - tensor.begin);
  }
}

// The sorted ranges must be contiguous, without overlaps or gaps.
void check_place(const StoredTensor& tensor, std::uint64_t position, std::string_view file) {
  if (tensor.begin == position) return;
  const bool overlaps = tensor.begin < position;
  refuse(file, "tensor \"", tensor.name, "\": starts at ", tensor.begin,
         overlaps ? " and overlaps the tensor before it, which ends at " : ", a hole behind ",
         position);
}

void read_metadata(const Json& value, std::string_view file, SafetensorsHeader& header) {
  if (value.is_null()) return;  // none, as in the safetensors library
  if (!value.is_object()) refuse(file, "__metadata__ must map strings to strings");
  for (const auto& [key, text] : value.object()) {
    if (!text.is_string()) refuse(file, "__metadata__: \"", key, "\" is not a string");
    header.metadata.emplace_back(key, text.string());
  }
}

template <class Check>
bool attempt(const SafetensorsHeader::Attempts& attempts, const Check& check) {
  return attempts.run(
      attempts.context, [](void* of) { (*static_cast<const Check*>(of))(); },
      const_cast<Check*>(&check));
}

bool is_plain_name(std::string_view file) {
  constexpr std::string_view kForbidden("/\\\0", 3);
  return !file.empty() && file != "." && file != ".." &&
         file.find_first_of(kForbidden) == std::string_view::npos;
}

}  // namespace

std::optional<std::uint64_t> SafetensorsHeader::bits_of(std::string_view dtype) {
  struct Row {
    std::string_view name;
    std::uint64_t bits;
  };
  static constexpr Row kRows[] = {
      {"BOOL", 8},    {"U8", 8},   {"I8", 8},      {"F8_E5M2", 8}, {"F8_E4M3", 8},
      {"F8_E8M0", 8}, {"F4", 4},   {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"I16", 16},
      {"U16", 16},    {"F16", 16}, {"BF16", 16},   {"I32", 32},    {"U32", 32},
      {"F32", 32},    {"C64", 64}, {"F64", 64},    {"I64", 64},    {"U64", 64},
  };
  for (const Row& row : kRows) {
    if (row.name == dtype) return row.bits;
  }
  return std::nullopt;
}

Shape StoredTensor::native_shape() const {
  Shape native;
  for (const std::uint64_t dim : shape) {
    if (dim > std::numeric_limits<std::size_t>::max()) {
      fail(ErrorCode::out_of_memory, "tensor \"", name, "\": shape ", shape_text(shape),
           " does not fit this machine's address space");
    }
    if (native.rank() == Shape::kMaxRank) {
      fail(ErrorCode::unsupported, "tensor \"", name, "\": shape ", shape_text(shape),
           " has more than ", Shape::kMaxRank, " dimensions");
    }
    native.append(static_cast<std::size_t>(dim));
  }
  return native;
}

std::uint64_t SafetensorsHeader::header_bytes(const unsigned char* prefix, std::uint64_t file_bytes,
                                              std::string_view file) {
  std::uint64_t length = 0;
  for (int byte = 7; byte >= 0; --byte) length = length << 8 | prefix[byte];
  if (std::memcmp(prefix, "version ", kPrefixBytes) == 0) {
    refuse(file, "this is a pointer of Git LFS: 'git lfs pull' downloads the file");
  }
  // No length of a header is four letters: a page, a message of a server, another format.
  const auto* text_end = std::find_if(prefix, prefix + kPrefixBytes,
                                      [](unsigned char byte) { return byte < ' ' || byte > '~'; });
  if (text_end - prefix >= 4) {
    refuse(file, "this is no safetensors file, it begins with \"",
           std::string_view(reinterpret_cast<const char*>(prefix), text_end - prefix), "\"");
  }
  if (length > kMaxHeaderBytes) {
    refuse(file, "the header claims ", length, " bytes, at most ", kMaxHeaderBytes, " are allowed");
  }
  if (length > file_bytes - kPrefixBytes) {
    refuse(file, "the header claims ", length, " bytes, the file holds ", file_bytes - kPrefixBytes,
           " behind its length");
  }
  if (length < 2) refuse(file, "the header claims ", length, " bytes, too few for \"{}\"");
  return length;
}

SafetensorsHeader SafetensorsHeader::parse(std::string_view json, std::uint64_t data_bytes,
                                           std::string_view file, const Attempts& attempts) {
  if (json.empty() || json.front() != '{') refuse(file, "the header must begin with \"{\"");
  const Json root = Json::parse(json, concat(file, ": header"), ErrorCode::malformed_file);
  SafetensorsHeader header;
  // Sorted by position in the file.
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, StoredTensor> tensors;
  std::size_t entries = 0;
  for (const auto& entry : root.object()) {
    ++entries;
    const bool more = attempt(attempts, [&] {
      if (entry.first == "__metadata__") {
        read_metadata(entry.second, file, header);
        --entries;
        return;
      }
      StoredTensor tensor = read_entry(entry.first, entry.second, file);
      check_range(tensor, data_bytes, file);
      const std::pair place(tensor.begin, tensor.end);
      tensors.emplace(place, std::move(tensor));
    });
    if (!more) return header;
  }
  // The bytes of a broken entry would be reported as a gap.
  if (tensors.size() != entries) return header;
  std::uint64_t position = 0;
  for (auto& [place, tensor] : tensors) {
    if (!attempt(attempts, [&, &at = tensor] { check_place(at, position, file); })) return header;
    position = std::max(position, tensor.end);
    header.tensors.push_back(std::move(tensor));
  }
  attempt(attempts, [&] {
    if (position == data_bytes) return;
    refuse(file, "the tensors end at byte ", position, " of ", data_bytes, " data bytes");
  });
  return header;
}

const SafetensorsHeader::Attempts SafetensorsHeader::kDirect = {
    nullptr, [](void*, void (*check)(void*), void* of) {
      check(of);
      return true;
    }};

void SafetensorsHeader::expect_prefix(std::uint64_t file_bytes, std::string_view file) {
  if (file_bytes < kPrefixBytes) {
    refuse(file, file_bytes, " bytes, too few for the 8 bytes of header length");
  }
}

SafetensorsHeader SafetensorsHeader::read(std::string_view start, std::uint64_t file_bytes,
                                          std::string_view file, const Attempts& attempts) {
  expect_prefix(std::min<std::uint64_t>(start.size(), file_bytes), file);
  const std::uint64_t length =
      header_bytes(reinterpret_cast<const unsigned char*>(start.data()), file_bytes, file);
  const std::string_view json = start.substr(kPrefixBytes, static_cast<std::size_t>(length));
  if (json.size() < length) refuse(file, "the file ends early, in its header");
  return parse(json, file_bytes - kPrefixBytes - length, file, attempts);
}

void ShardIndex::settle(const StoredTensor& tensor, std::string_view file) {
  const auto known = file_of_tensor.find(tensor.name);
  if (known != file_of_tensor.end() && known->second == file) file_of_tensor.erase(known);
}

void ShardIndex::check(const StoredTensor& tensor, std::string_view file) const {
  const auto known = file_of_tensor.find(tensor.name);
  if (known == file_of_tensor.end() || known->second == file) return;
  refuse(name, "weight_map: \"", known->first, "\" is in ", file, ", not in ", known->second);
}

ShardIndex ShardIndex::parse(std::string_view json, std::string_view file) {
  const Json root = Json::parse(json, file, ErrorCode::malformed_file);
  const Json* map = root.find("weight_map");
  if (map == nullptr || !map->is_object()) refuse(file, "\"weight_map\" must map tensors to files");
  ShardIndex index;
  index.name = file;
  std::set<std::string> files;
  for (const auto& [tensor, name] : map->object()) {
    if (!name.is_string()) refuse(file, "weight_map: \"", tensor, "\" names no file");
    const std::string& shard = name.string();
    if (!is_plain_name(shard)) {
      refuse(file, "weight_map: \"", shard, "\" is not a plain file name");
    }
    index.file_of_tensor.emplace(tensor, shard);
    if (files.insert(shard).second) index.files.push_back(shard);
  }
  if (index.files.empty()) refuse(file, "weight_map names no file");
  const Json* metadata = root.find("metadata");
  const Json* total = metadata == nullptr ? nullptr : metadata->find("total_size");
  if (total != nullptr && total->unsigned_integer()) index.total_size = *total->unsigned_integer();
  return index;
}

}  // namespace clearformer
