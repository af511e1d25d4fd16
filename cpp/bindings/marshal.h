// Converts between JavaScript values and the core's types, and turns every
// exception into a returned { ok: false, error: { code, message } }.
#pragma once

#include <emscripten/val.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "clearformer/layers/masking.h"

// Strings are converted by text_of() and to_value() only: Embind's conversion does not check malloc and writes to address 0
// when memory is exhausted. This declaration makes its use a compile error.
template <>
struct emscripten::internal::BindingType<std::string>;

namespace clearformer::bindings {

/// A JavaScript string as UTF-8; unpaired surrogates become U+FFFD.
std::string text_of(const emscripten::val& text);

/// The argument object of an exported function; look-ups throw invalid_argument naming the key.
class Arguments {
 public:
  explicit Arguments(emscripten::val object) : object_(std::move(object)) {}

  bool has(const char* key) const;
  /// Whether there is a list with members.
  bool has_any(const char* key) const;
  bool flag(const char* key) const;
  int handle(const char* key) const;
  double whole(const char* key) const;  // >= 0
  /// A size: of larger numbers the largest there is, which nothing has.
  std::size_t count(const char* key) const;
  std::string text(const char* key) const;
  /// The bytes of a Uint8Array.
  std::string bytes(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  /// The members of an array of objects; empty if absent.
  std::vector<Arguments> objects(const char* key) const;
  /// Integers; empty if absent.
  std::vector<std::int64_t> integer_list(const char* key) const;
  emscripten::val value(const char* key) const { return required(key); }
  /// The value as JSON text; "{}" if absent.
  std::string json(const char* key) const;
  /// A tensor { data, dims } of any integer type, converted to int32, or to uint8 for flags.
  Tensor integers(const char* key) const;
  Tensor flags(const char* key) const;
  /// A tensor of either kind: Float32Array as float32, integers as int32.
  Tensor numbers(const char* key) const;
  /// A Float32Array tensor.
  Tensor floats(const char* key) const;
  std::optional<Tensor> optional_floats(const char* key) const;
  double number(const char* key) const;
  std::optional<double> optional_number(const char* key) const;
  /// An object of named tensors: Float32Array as float32, integers as int32.
  std::map<std::string, Tensor> tensors(const char* key) const;
  /// The conjunction of the masks in an array of { kind, data?, dims?, past? }; an empty mask if absent.
  Mask mask(const char* key) const;
  /// An object of such arrays by name.
  std::map<std::string, Mask, std::less<>> masks(const char* key) const;

 private:
  emscripten::val required(const char* key) const;
  emscripten::val object_;
};

// Building results: these functions exist once, where val's templates would be compiled for every length of key and type.

/// A number, which is a double in JavaScript.
emscripten::val number_value(double number);
/// Sets a member of an object.
void put(emscripten::val& object, const char* key, const emscripten::val& value);
/// Appends to an array.
void push(emscripten::val& array, const emscripten::val& value);

/// The value of a flag or a number.
template <class T>
  requires std::is_arithmetic_v<T>
emscripten::val plain_value(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    using namespace emscripten::internal;  // NOLINT: names of val's constants
    return emscripten::val::take_ownership(emscripten::EM_VAL(value ? _EMVAL_TRUE : _EMVAL_FALSE));
  } else {
    return number_value(static_cast<double>(value));
  }
}
template <class T>
  requires std::is_arithmetic_v<T>
void put(emscripten::val& object, const char* key, T value) {
  put(object, key, plain_value(value));
}
template <class T>
  requires std::is_arithmetic_v<T>
void push(emscripten::val& array, T value) {
  push(array, plain_value(value));
}

/// { data: a typed array in JavaScript's memory, dims, type }.
emscripten::val to_value(const TensorView& tensor);
/// A JavaScript string; NUL, which names in files may contain, becomes a space.
emscripten::val to_value(std::string_view text);
emscripten::val to_value(const std::vector<std::string>& texts);
emscripten::val to_value(const std::vector<std::int32_t>& numbers);

/// The signature of bindings: an object in, a value out.
using BorderFunction = emscripten::val (*)(const Arguments&);

/// Calls a binding and turns a C++ exception into a value.
emscripten::val answer(BorderFunction function, emscripten::val&& object);

/// An exported function.
struct Export {
  const char* name;
  BorderFunction function;
};

/// Makes them members of the JavaScript module; they are called through answer().
void register_exports(std::span<const Export> exports);

}  // namespace clearformer::bindings
