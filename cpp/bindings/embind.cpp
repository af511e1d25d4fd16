// Embind registrations that replace libembind's bind.cpp, which would link all built-in types and printf: only types
// that cross the border (arguments and results of val) are registered with the JavaScript glue.

#include <emscripten/bind.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace {

using emscripten::internal::InitFunc;
using emscripten::internal::TypeID;

InitFunc* init_functions = nullptr;

template <class T>
void register_integer(const char* name) {
  emscripten::internal::_embind_register_integer(TypeID<T>::get(), name, sizeof(T),
                                                 std::numeric_limits<T>::min(),
                                                 std::numeric_limits<T>::max());
}

// The glue's numbering of typed arrays (typeMapping in Emscripten's libembind.js).
enum class TypedArray : unsigned { uint8 = 1, int32 = 4, float32 = 6, int64 = 8 };

template <class T>
void register_memory_view(TypedArray kind, const char* name) {
  emscripten::internal::_embind_register_memory_view(TypeID<emscripten::memory_view<T>>::get(),
                                                     static_cast<unsigned>(kind), name);
}

}  // namespace

extern "C" {

// For the glue's message about an unregistered type; the glue frees the string.
const char* __getTypeName(const std::type_info*) { return strdup("?"); }

void _embind_initialize_bindings() {
  for (InitFunc* each = init_functions; each != nullptr; each = each->next) each->init_func();
}

void _embind_register_bindings(InitFunc* function) {
  function->next = init_functions;
  init_functions = function;
}

// Coroutines are not used, but val.h references them.
void _emval_coro_resume(void*, void*) { __builtin_trap(); }
void _emval_coro_reject(void*, void*) { __builtin_trap(); }

}  // extern "C"

EMSCRIPTEN_BINDINGS(types) {
  using namespace emscripten::internal;  // NOLINT: this function only registers
  _embind_register_void(TypeID<void>::get(), "void");
  _embind_register_bool(TypeID<bool>::get(), "bool", true, false);
  register_integer<int>("int");
  register_integer<unsigned>("unsigned int");
  register_integer<unsigned long>("unsigned long");
  _embind_register_float(TypeID<float>::get(), "float", sizeof(float));
  _embind_register_float(TypeID<double>::get(), "double", sizeof(double));
  _embind_register_emval(TypeID<emscripten::val>::get());
  register_memory_view<std::uint8_t>(TypedArray::uint8, "Uint8Array");
  register_memory_view<std::int32_t>(TypedArray::int32, "Int32Array");
  register_memory_view<std::int64_t>(TypedArray::int64, "BigInt64Array");
  register_memory_view<float>(TypedArray::float32, "Float32Array");
}
