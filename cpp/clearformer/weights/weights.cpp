#include "clearformer/weights/weights.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/transpose.h"
#include "clearformer/tensor/pattern.h"

namespace clearformer {

namespace {

bool is_turned(const StoredName& stored, const Shape& shape) {
  return stored.layout == Layout::in_out && shape.rank() == 2;
}

// The stored shape required for `expected` to be one of its parts; if parts differ in size, the stored shape `found`
// is used.
Shape stored_shape(const StoredName& stored, const Shape& expected, const Shape* found) {
  Shape shape = expected;
  shape[0] *= std::max<std::size_t>(stored.parts, 1);
  if (stored.parts == 0 && found != nullptr && found->rank() == shape.rank()) {
    const std::size_t outputs = (*found)[is_turned(stored, shape) ? 1 : 0];
    shape[0] = std::max(outputs, expected[0] * std::max<std::size_t>(stored.part, 1));
    shape[0] -= shape[0] % stored.groups;
  }
  if (is_turned(stored, shape)) std::swap(shape[0], shape[1]);
  if (stored.experts == 0) return shape;
  Shape whole{stored.experts};
  for (const std::size_t extent : shape) whole.append(extent);
  return whole;
}

// The rows of a part with `size` outputs among all `outputs` of the stored tensor.
RowRuns rows_of(const StoredName& stored, std::size_t outputs, std::size_t size) {
  const std::size_t count = size / stored.groups, stride = outputs / stored.groups;
  const bool from_end = stored.parts == 0 && stored.part != 0;
  const std::size_t before = stored.part * count;
  if (stored.experts != 0) return {outputs / stored.experts * stored.expert + before, count, 0, 1};
  return {from_end ? stride - before : before, count, stride, stored.groups};
}

// The number of outputs of a tensor of the stored shape.
std::size_t outputs_of(const StoredName& stored, const Shape& shape) {
  if (stored.experts != 0) return shape.outer(1);
  return shape.rank() == 0 ? 1 : shape[is_turned(stored, shape) ? 1 : 0];
}

// Copies part `stored.part` of the outputs, transposed to (out, in) if the file has (in, out).
Tensor copied_part(const Tensor& from, const StoredName& stored, const Shape& expected) {
  Tensor part = Weights::allocate(expected, DType::f32);
  const bool turned = is_turned(stored, expected);
  const std::size_t all = outputs_of(stored, from.shape()), width = part.elements() / expected[0];
  const RowRuns rows = rows_of(stored, all, expected[0]);
  for (std::size_t run = 0; run < rows.runs; ++run) {
    const std::size_t first = rows.first + run * rows.stride;
    float* to = part.f32() + run * rows.count * width;
    if (turned) {
      kernels::transpose(from.f32() + first, all, width, rows.count, to, width);
    } else {
      std::memcpy(to, from.f32() + first * width, rows.count * width * sizeof(float));
    }
  }
  return part;
}

// Moves all of `from`, or copies its part.
Tensor taken_part(Tensor& from, const StoredName& stored, const Shape& expected) {
  if (stored.is_whole() && stored.layout == Layout::out_in) return std::move(from);
  return copied_part(from, stored, expected);
}

Matrix taken_part(Matrix& from, const StoredName& stored, const Shape& expected) {
  if (stored.is_whole()) return std::move(from);
  return from.slice(rows_of(stored, from.outputs(), expected[0]));
}

// In 64 bits on every machine: a tensor known by its header alone may be larger than memory.
std::uint64_t bytes_in_f32(const Shape& shape) {
  std::uint64_t bytes = sizeof(float);
  for (const std::size_t extent : shape) bytes *= extent;
  return bytes;
}

bool same_bytes(const TensorView& one, const TensorView& other) {
  if (one.data() == nullptr || other.data() == nullptr) return one.data() == other.data();
  return one.dtype() == other.dtype() && one.bytes() == other.bytes() &&
         std::memcmp(one.data(), other.data(), one.bytes()) == 0;
}

}  // namespace

Tensor Weights::allocate(const Shape& shape, DType dtype) {
  std::size_t spare = 0;
  if (shape.rank() == 2 && dtype == DType::f32) {
    spare = (kRowMultiple - shape[0] % kRowMultiple) % kRowMultiple * shape[1];
  }
  return Tensor(shape, dtype, spare);
}

Weights Weights::recording(std::vector<MatrixRequest>& requests, bool known) {
  Weights weights;
  weights.requests_ = &requests;
  weights.known_ = known;
  return weights;
}

void Weights::add(std::string name, std::string file, Tensor tensor) {
  const Shape shape = tensor.shape();
  add(std::move(name), std::move(file), StoredWeight{shape, std::move(tensor), {}, {}});
}

void Weights::add(std::string name, std::string file, StoredWeight weight) {
  if (const auto found = entries_.find(name); found != entries_.end()) {
    fail(ErrorCode::malformed_file, file, ": tensor \"", name, "\" is also in ",
         found->second.file);
  }
  entries_.emplace(std::move(name), Entry{std::move(file), std::move(weight)});
}

bool Weights::mentions(std::string_view text) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry.first.find(text) != std::string::npos;
  });
}

bool Weights::begins_with(std::string_view prefix) const {
  const auto first = entries_.lower_bound(prefix);
  return first != entries_.end() && first->first.starts_with(prefix);
}

void Weights::modernize() {
  constexpr std::pair<std::string_view, std::string_view> kOld[] = {
      {"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}};
  for (const auto& [old, now] : kOld) {
    for (const std::string& name : names()) {
      if (!name.ends_with(old)) continue;
      rename(name, concat(name.substr(0, name.size() - old.size()), now));
    }
  }
}

bool Weights::same(std::string_view a, std::string_view b) const {
  const StoredWeight& one = entries_.find(a)->second.weight;
  const StoredWeight& other = entries_.find(b)->second.weight;
  return one.shape == other.shape && one.matrix.format() == other.matrix.format() &&
         same_bytes(one.tensor, other.tensor) &&
         same_bytes(one.matrix.values(), other.matrix.values()) &&
         same_bytes(one.matrix.scales(), other.matrix.scales());
}

void Weights::rename(std::string_view from, std::string to) {
  auto entry = entries_.extract(entries_.find(from));
  if (entries_.contains(to)) {
    fail(ErrorCode::malformed_file, entry.mapped().file, ": tensor \"", from, "\" and \"", to,
         "\" are the same weight under two names");
  }
  if (entry.mapped().name_in_file.empty()) entry.mapped().name_in_file = from;
  entry.key() = std::move(to);
  entries_.insert(std::move(entry));
}

void Weights::forget(std::string_view name) { entries_.erase(entries_.find(name)); }

void Weights::ignore(std::string_view pattern) {
  std::erase_if(entries_, [&](const auto& entry) {
    return !entry.second.taken && matches_pattern(entry.first, pattern);
  });
}

const Shape* Weights::shape(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second.weight.shape;
}

Weights::Entry* Weights::claim(const StoredName& stored, const Shape& expected) {
  const auto found = entries_.find(stored.name);
  const Shape wanted = stored_shape(stored, expected, shape(stored.name));
  if (found == entries_.end()) {
    remember(ErrorCode::missing_tensor, stored.name,
             concat("tensor \"", stored.name, "\" of shape ", wanted.text(), " is missing",
                    problems_.empty() ? wrapper() : ""));
    return nullptr;
  }
  Entry& entry = found->second;
  const std::size_t outputs = outputs_of(stored, wanted);
  if (entry.faulty) return nullptr;
  if (entry.taken && entry.rows_taken >= outputs) {
    if (stored.parts == 0) {  // a stack smaller than the model's, see unfinished()
      entry.rows_taken += outputs_of({}, expected);
      return nullptr;
    }
    fail(ErrorCode::invalid_argument, "weights: \"", stored.name, "\" was taken twice");
  }
  entry.taken = true;
  entry.outputs = outputs;
  if (!entry.weight.unread.empty()) {
    const bool unknown = entry.weight.unread.starts_with("unknown dtype");
    remember(unknown ? ErrorCode::malformed_file : ErrorCode::unsupported, stored.name,
             concat(entry.file, ": tensor \"", stored.name, "\": ", entry.weight.unread));
    entry.faulty = true;
    return nullptr;
  }
  const DType dtype = entry.weight.matrix.empty() ? entry.weight.tensor.dtype() : DType::f32;
  if (!(entry.weight.shape == wanted)) {
    remember(ErrorCode::shape_mismatch, stored.name,
             concat(entry.file, ": tensor \"", stored.name, "\" has shape ",
                    entry.weight.shape.text(), ", expected ", wanted.text()));
    entry.faulty = true;
  } else if (dtype != DType::f32) {
    remember(ErrorCode::dtype_mismatch, stored.name,
             concat(entry.file, ": tensor \"", stored.name, "\" holds ", to_string(dtype),
                    ", expected a floating-point type"));
    entry.faulty = true;
  }
  entry.rows_taken += entry.faulty ? outputs : outputs_of({}, expected);
  return entry.faulty ? nullptr : &entry;
}

void Weights::record(const StoredName& stored, const Shape& expected) {
  if (!records_blindly()) {
    claim(stored, expected);
    return;
  }
  for (Needed& known : needed_) {  // another part of a stack
    if (stored.is_whole()) break;
    if (known.name != stored.name) continue;
    if (stored.parts == 0) known.shape[is_turned(stored, expected) ? 1 : 0] += expected[0];
    return;
  }
  needed_.push_back({stored.name, stored_shape(stored, expected, nullptr)});
}

void Weights::note_parameter(std::string_view path, const StoredName& stored, const Entry& entry,
                             const Shape& shape) {
  if (path.empty()) return;
  const Shape& whole = entry.weight.shape;
  const RowRuns places = rows_of(stored, outputs_of(stored, whole), outputs_of({}, shape));
  Parameter& parameter =
      parameters_.emplace_back(Parameter{std::string(path), stored, whole, places, nullptr});
  if (!entry.name_in_file.empty()) parameter.stored.name = entry.name_in_file;
}

void Weights::hold(std::string_view path, std::shared_ptr<WeightRows> rows,
                   std::shared_ptr<LowRankUpdates> updates) {
  // The last one: a layer holds what it has just taken.
  for (std::size_t i = parameters_.size(); i-- != 0;) {
    if (parameters_[i].path != path) continue;
    parameters_[i].rows = std::move(rows);
    parameters_[i].updates = std::move(updates);
    return;
  }
}

Tensor Weights::take(const StoredName& stored, const Shape& expected, std::string_view path) {
  if (requests_ != nullptr) {
    bytes_taken_ += bytes_in_f32(expected);
    record(stored, expected);
    return {};
  }
  Entry* entry = claim(stored, expected);
  if (entry == nullptr) return {};
  Tensor part =
      entry->weight.matrix.empty()
          ? taken_part(entry->weight.tensor, stored, expected)
          : std::move(taken_part(entry->weight.matrix, stored, expected).widened().values());
  note_parameter(path, stored, *entry, expected);
  release_if_taken(*entry, stored);
  bytes_taken_ += part.view().bytes();
  if (!path.empty()) {
    const std::size_t outputs = outputs_of({}, expected);
    Tensor rows = part.share();
    rows.reshape({outputs, outputs == 0 ? 0 : part.elements() / outputs});
    hold(path, std::make_shared<Matrix>(std::move(rows)));
  }
  return part;
}

Matrix Weights::take_matrix(const StoredName& stored, const Shape& expected, MatrixRole role,
                            std::string_view path) {
  if (requests_ != nullptr) {
    requests_->push_back({std::string(path), role, expected[0], expected[1], stored.name});
    record(stored, expected);
    return {};
  }
  Entry* entry = claim(stored, expected);
  if (entry == nullptr) return {};
  Matrix part = entry->weight.matrix.empty()
                    ? Matrix(taken_part(entry->weight.tensor, stored, expected))
                    : taken_part(entry->weight.matrix, stored, expected);
  note_parameter(path, stored, *entry, expected);
  release_if_taken(*entry, stored);
  bytes_taken_ += part.bytes();
  return part;
}

void Weights::release_if_taken(Entry& entry, const StoredName& stored) {
  if (entry.rows_taken < outputs_of(stored, entry.weight.shape)) return;
  entry.weight.tensor = Tensor();
  entry.weight.matrix = Matrix();
}

// The names are in order: if the first and the last begin with a prefix, all do.
std::string Weights::wrapper() const {
  for (const std::string_view prefix : {"module.", "_orig_mod."}) {
    if (entries_.empty() || !entries_.begin()->first.starts_with(prefix) ||
        !entries_.rbegin()->first.starts_with(prefix)) {
      continue;
    }
    return concat(", and all names of the file begin with \"", prefix,
                  "\", as of a model in a wrapper (DataParallel, torch.compile): save the model "
                  "itself");
  }
  return "";
}

// A missing tensor is reported once, not for each of its parts.
void Weights::remember(ErrorCode code, const std::string& tensor, std::string text) {
  for (const Problem& problem : problems_) {
    if (problem.text == text) return;
  }
  problems_.push_back({code, tensor, std::move(text)});
  if (problems_.size() == kMaxProblems) check(Unexpected::keep);
}

void Weights::check(Unexpected unexpected) const {
  std::string text;
  ErrorCode code = ErrorCode::invalid_argument;
  if (!problems_.empty()) code = problems_.front().code;
  const auto append = [&text](std::string_view line) {
    text += text.empty() ? "" : "; ";
    text += line;
  };
  for (const Problem& problem : problems_) append(problem.text);
  for (const Problem& problem : unfinished()) {
    if (text.empty()) code = problem.code;
    append(problem.text);
  }
  if (problems_.size() == kMaxProblems) append("and perhaps more");
  if (unexpected == Unexpected::refuse) {
    for (const std::string& name : unused()) append(concat("tensor \"", name, "\" is unexpected"));
  }
  if (!text.empty()) fail(code, "weights: ", text);
}

std::vector<Weights::Problem> Weights::unfinished() const {
  std::vector<Problem> found;
  for (const auto& [name, entry] : entries_) {
    if (entry.faulty || !entry.taken || entry.rows_taken == entry.outputs) continue;
    found.push_back({ErrorCode::shape_mismatch, name,
                     concat(entry.file, ": tensor \"", name, "\" stacks matrices of ",
                            entry.outputs, " outputs, expected ", entry.rows_taken)});
  }
  return found;
}

void Weights::expect_no_twin(const std::string& name, std::string_view twin) const {
  const auto found = entries_.find(twin);
  if (name == twin || found == entries_.end() || !found->second.taken) return;
  fail(ErrorCode::malformed_file, entries_.find(name)->second.file, ": tensor \"", name,
       "\" and \"", twin, "\" are the same weight under two prefixes");
}

std::vector<std::string> Weights::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (!entry.taken) names.push_back(name);
  }
  return names;
}

std::vector<std::string> Weights::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name);
  return names;
}

}  // namespace clearformer
