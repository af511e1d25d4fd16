#include "bindings/marshal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>

namespace clearformer::bindings {

using emscripten::val;

namespace {

constexpr auto kInvalid = ErrorCode::invalid_argument;

// Whether a number is an integer that doubles represent exactly.
bool is_whole(double number) {
  return std::abs(number) <= 9007199254740991.0 && number == std::floor(number);
}

Shape dims_of(const val& tensor, const char* key) {
  const val dims = tensor["dims"];
  if (!dims.isArray()) fail(kInvalid, key, ": a tensor needs dims, an array of sizes");
  Shape shape;
  const auto rank = dims["length"].as<unsigned>();
  for (unsigned axis = 0; axis < rank; ++axis) {
    const double dim = dims[axis].as<double>();
    if (!(dim >= 0 && dim <= 4294967295.0) || dim != std::floor(dim)) {
      fail(kInvalid, key, ": dims[", axis, "] is no size");
    }
    shape.append(static_cast<std::size_t>(dim));
  }
  return shape;
}

// Copies a typed array into a tensor of the same element type.
template <class T>
Tensor copied(const val& data, const Shape& shape) {
  Tensor tensor(shape, DTypeOf<T>::value);
  if (tensor.elements() == 0)
    return tensor;  // set() would throw for a detached array, even an empty one
  val(emscripten::typed_memory_view(tensor.elements(), tensor.mutable_view().as<T>()))
      .template call<void>("set", data);
  return tensor;
}

template <class To, class From>
Tensor converted(const Tensor& from, const char* key) {
  Tensor to(from.shape(), DTypeOf<To>::value);
  const From* source = from.view().as<From>();
  To* target = to.mutable_view().as<To>();
  for (std::size_t i = 0; i < from.elements(); ++i) {
    target[i] = static_cast<To>(source[i]);
    if (static_cast<From>(target[i]) != source[i]) {
      fail(kInvalid, key, ": element ", i, " is ", source[i], ", outside what is allowed here");
    }
  }
  return to;
}

// The typed array's class name; checks that it is a typed array of the size implied by the shape.
std::string checked_type(const val& tensor, const Shape& shape, const char* key) {
  const val data = tensor["data"];
  if (data.isUndefined() || data.isNull() || !data["BYTES_PER_ELEMENT"].isNumber()) {
    fail(kInvalid, key, ": data must be a typed array");
  }
  const double length = data["length"].as<double>();
  if (length != static_cast<double>(shape.elements())) {
    fail(ErrorCode::shape_mismatch, key, ": dims ", shape.text(), " ask for ", shape.elements(),
         " elements, data has ", length);
  }
  return text_of(data["constructor"]["name"]);
}

Tensor integer_tensor(const val& tensor, const char* key) {
  const Shape shape = dims_of(tensor, key);
  const std::string type = checked_type(tensor, shape, key);
  const val data = tensor["data"];
  if (type == "BigInt64Array") {
    return converted<std::int32_t, std::int64_t>(copied<std::int64_t>(data, shape), key);
  }
  if (type == "Int32Array") {
    return converted<std::int32_t, std::int32_t>(copied<std::int32_t>(data, shape), key);
  }
  if (type == "Uint8Array") {
    return converted<std::int32_t, std::uint8_t>(copied<std::uint8_t>(data, shape), key);
  }
  fail(ErrorCode::dtype_mismatch, key, ": ", type,
       " is not accepted; use BigInt64Array, Int32Array or Uint8Array");
}

// Converts to uint8 by way of int32, which halves the code.
Tensor flag_tensor(const val& tensor, const char* key) {
  return converted<std::uint8_t, std::int32_t>(integer_tensor(tensor, key), key);
}

Tensor float_tensor(const val& tensor, const char* key) {
  const Shape shape = dims_of(tensor, key);
  const std::string type = checked_type(tensor, shape, key);
  if (type != "Float32Array") {
    fail(ErrorCode::dtype_mismatch, key, ": ", type, " is not accepted; use Float32Array");
  }
  return copied<float>(tensor["data"], shape);
}

Tensor any_tensor(const val& tensor, const char* key) {
  const val data = tensor["data"];
  const bool floats = !data.isUndefined() && !data.isNull() &&
                      text_of(data["constructor"]["name"]) == "Float32Array";
  return floats ? float_tensor(tensor, key) : integer_tensor(tensor, key);
}

Mask mask_term(const val& term, const char* key) {
  const val kind_value = term["kind"];
  const std::string kind = kind_value.isString() ? text_of(kind_value) : "";
  if (kind == "causal") {
    const val past = term["past"];
    return Mask::causal(past.isNumber() ? past.as<unsigned>() : 0);
  }
  if (kind == "allow") return Mask::allow(flag_tensor(term, key));
  if (kind == "ignore") return Mask::ignore(flag_tensor(term, key));
  if (kind == "additive") return Mask::additive(float_tensor(term, key));
  if (kind == "valid_lens") return Mask::valid_lens(integer_tensor(term, key));
  fail(kInvalid, key, ": \"", kind, "\" is no kind of mask");
}

Mask mask_of(const val& terms, const char* key) {
  if (!terms.isArray()) fail(kInvalid, key, " must be a Mask");
  Mask mask;
  const auto length = terms["length"].as<unsigned>();
  for (unsigned i = 0; i < length; ++i) mask = mask & mask_term(terms[i], key);
  return mask;
}

// Calls `read` with the name and the value of each member.
template <class Read>
void for_members(const val& object, Read read) {
  const val keys = val::global("Object").call<val>("keys", object);
  const auto length = keys["length"].as<unsigned>();
  for (unsigned i = 0; i < length; ++i) read(text_of(keys[i]), object[keys[i]]);
}

std::string bytes_of(const val& bytes) {
  std::string copy(bytes["length"].as<unsigned>(), '\0');
  if (copy.empty()) return copy;  // set() throws for a detached array, even an empty one
  val(emscripten::typed_memory_view(copy.size(), reinterpret_cast<std::uint8_t*>(copy.data())))
      .call<void>("set", bytes);
  return copy;
}

}  // namespace

std::string text_of(const val& text) {
  static const val encoder = val::global("TextEncoder").new_();
  return bytes_of(encoder.call<val>("encode", text));
}

bool Arguments::has(const char* key) const {
  const val value = object_[key];
  return !value.isUndefined() && !value.isNull();
}

bool Arguments::has_any(const char* key) const {
  return has(key) && object_[key]["length"].as<unsigned>() > 0;
}

val Arguments::required(const char* key) const {
  if (!has(key)) fail(kInvalid, "\"", key, "\" is missing");
  return object_[key];
}

bool Arguments::flag(const char* key) const {
  if (!has(key)) return false;
  const val value = object_[key];
  if (!value.isTrue() && !value.isFalse()) fail(kInvalid, "\"", key, "\" must be true or false");
  return value.isTrue();
}

double Arguments::whole(const char* key) const {
  const val value = required(key);
  const double number = value.isNumber() ? value.as<double>() : -1.0;
  if (!(number >= 0 && is_whole(number))) {
    fail(kInvalid, "\"", key, "\" must be a whole number >= 0");
  }
  return number;
}

std::size_t Arguments::count(const char* key) const {
  constexpr double kMost = std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(std::min(whole(key), kMost));
}

int Arguments::handle(const char* key) const {
  const std::size_t number = count(key);
  if (number > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorCode::disposed, "\"", key, "\" is no handle");
  }
  return static_cast<int>(number);
}

std::string Arguments::text(const char* key) const {
  const val value = required(key);
  if (!value.isString()) fail(kInvalid, "\"", key, "\" must be a string");
  return text_of(value);
}

std::string Arguments::bytes(const char* key) const {
  const val value = required(key);
  if (!value["BYTES_PER_ELEMENT"].isNumber()) fail(kInvalid, "\"", key, "\" must be a Uint8Array");
  return bytes_of(value);
}

std::vector<std::string> Arguments::texts(const char* key) const {
  std::vector<std::string> texts;
  if (!has(key)) return texts;
  const val value = object_[key];
  if (!value.isArray()) fail(kInvalid, "\"", key, "\" must be an array of strings");
  const auto length = value["length"].as<unsigned>();
  for (unsigned i = 0; i < length; ++i) {
    if (!value[i].isString()) fail(kInvalid, "\"", key, "\" must be an array of strings");
    texts.push_back(text_of(value[i]));
  }
  return texts;
}

std::vector<Arguments> Arguments::objects(const char* key) const {
  std::vector<Arguments> objects;
  if (!has(key)) return objects;
  const val value = object_[key];
  if (!value.isArray()) fail(kInvalid, "\"", key, "\" must be an array of objects");
  const auto length = value["length"].as<unsigned>();
  for (unsigned i = 0; i < length; ++i) objects.emplace_back(value[i]);
  return objects;
}

std::vector<std::int64_t> Arguments::integer_list(const char* key) const {
  std::vector<std::int64_t> numbers;
  if (!has(key)) return numbers;
  const val value = object_[key];
  const auto refuse = [&] { fail(kInvalid, "\"", key, "\" must be an array of integers"); };
  if (!value.isArray()) refuse();
  for (const double number : emscripten::vecFromJSArray<double>(value)) {
    if (!is_whole(number)) refuse();
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  return numbers;
}

std::string Arguments::json(const char* key) const {
  if (!has(key)) return "{}";
  return text_of(val::global("JSON").call<val>("stringify", object_[key]));
}

Tensor Arguments::integers(const char* key) const { return integer_tensor(required(key), key); }

Tensor Arguments::numbers(const char* key) const { return any_tensor(required(key), key); }

Tensor Arguments::flags(const char* key) const { return flag_tensor(required(key), key); }

Tensor Arguments::floats(const char* key) const { return float_tensor(required(key), key); }

std::optional<Tensor> Arguments::optional_floats(const char* key) const {
  if (!has(key)) return std::nullopt;
  return floats(key);
}

double Arguments::number(const char* key) const {
  const val value = required(key);
  if (!value.isNumber()) fail(kInvalid, "\"", key, "\" must be a number");
  return value.as<double>();
}

std::optional<double> Arguments::optional_number(const char* key) const {
  if (!has(key)) return std::nullopt;
  return number(key);
}

std::map<std::string, Tensor> Arguments::tensors(const char* key) const {
  std::map<std::string, Tensor> tensors;
  if (!has(key)) return tensors;
  for_members(object_[key], [&](const std::string& name, const val& tensor) {
    tensors.emplace(name, any_tensor(tensor, name.c_str()));
  });
  return tensors;
}

Mask Arguments::mask(const char* key) const {
  return has(key) ? mask_of(object_[key], key) : Mask();
}

std::map<std::string, Mask, std::less<>> Arguments::masks(const char* key) const {
  std::map<std::string, Mask, std::less<>> masks;
  if (!has(key)) return masks;
  for_members(object_[key], [&](const std::string& name, const val& terms) {
    masks.emplace(name, mask_of(terms, name.c_str()));
  });
  return masks;
}

val number_value(double number) { return val(number); }

void put(val& object, const char* key, const val& value) { object.set(key, value); }

void push(val& array, const val& value) { array.call<void>("push", value); }

val to_value(const TensorView& tensor) {
  const std::size_t count = tensor.elements();
  const val view = [&] {
    switch (tensor.dtype()) {
      case DType::i32: return val(emscripten::typed_memory_view(count, tensor.as<std::int32_t>()));
      case DType::u8: return val(emscripten::typed_memory_view(count, tensor.as<std::uint8_t>()));
      default: return val(emscripten::typed_memory_view(count, tensor.f32()));
    }
  }();
  val dims = val::array();
  for (const std::size_t dim : tensor.shape()) push(dims, static_cast<double>(dim));
  val result = val::object();
  put(result, "data", view.call<val>("slice"));
  put(result, "dims", dims);
  put(result, "type", to_value(to_string(tensor.dtype())));
  return result;
}

val to_value(std::string_view text) {
  std::string copy(text);
  std::replace(copy.begin(), copy.end(), '\0', ' ');
  return val::u8string(copy.c_str());
}

val to_value(const std::vector<std::string>& texts) {
  val result = val::array();
  for (const std::string& text : texts) push(result, to_value(text));
  return result;
}

val to_value(const std::vector<std::int32_t>& numbers) {
  val result = val::array();
  for (const std::int32_t number : numbers) push(result, number);
  return result;
}

namespace {
// Takes no memory, of which there may be none.
val failure(const char* code, const char* message) {
  val error = val::object();
  put(error, "code", val::u8string(code));
  put(error, "message", val::u8string(message));
  val result = val::object();
  put(result, "ok", false);
  put(result, "error", error);
  return result;
}

val out_of_memory() { return failure(to_string(ErrorCode::out_of_memory).data(), "out of memory"); }
}  // namespace

val answer(BorderFunction function, val&& object) {
  try {
    val result = val::object();
    put(result, "ok", true);
    put(result, "value", function(Arguments(std::move(object))));
    return result;
  } catch (const Error& error) {
    return failure(to_string(error.code()).data(), error.what());  // a literal
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::length_error&) {  // of a container larger than any memory
    return out_of_memory();
  } catch (const std::exception& error) {
    return failure("internal", error.what());
  }
}

namespace {
using emscripten::EM_VAL;

// Takes the handle of the object and gives that of the answer.
EM_VAL call(BorderFunction function, EM_VAL object) {
  return answer(function, val::take_ownership(object)).release_ownership();
}

extern "C" void clearformer_register_export(const char* name, decltype(&call) call,
                                            BorderFunction function);
}  // namespace

void register_exports(std::span<const Export> exports) {
  for (const auto& [name, function] : exports) clearformer_register_export(name, &call, function);
}

}  // namespace clearformer::bindings
