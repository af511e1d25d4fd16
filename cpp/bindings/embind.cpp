// Embind registrations that replace libembind's bind.cpp, which would link all built-in types and printf: only types
// that cross the border (arguments and results of val) are registered with the JavaScript of embind.js.

#include <emscripten/bind.h>

#include <cstdint>

namespace {

using emscripten::internal::InitFunc;

InitFunc* init_functions = nullptr;

// The numbers are those of embindReaders in embind.js.
enum class Kind { none, boolean, i32, u32, f32, f64, value, u8_view, i32_view, i64_view, f32_view };

extern "C" void clearformer_register_type(emscripten::internal::TYPEID type, Kind kind);

template <class T>
void register_type(Kind kind) {
  clearformer_register_type(emscripten::internal::TypeID<T>::get(), kind);
}

}  // namespace

extern "C" {

void _embind_initialize_bindings() {
  for (InitFunc* each = init_functions; each != nullptr; each = each->next) each->init_func();
}

void _embind_register_bindings(InitFunc* function) {
  function->next = init_functions;
  init_functions = function;
}

// The linker requires it for a message of Emscripten's own glue.
const char* __getTypeName(const void*) { return ""; }

// val.h references coroutines, which are not used, and destructors, which none of the types has.
void _emval_coro_resume(void*, void*) { __builtin_trap(); }
void _emval_coro_reject(void*, void*) { __builtin_trap(); }
void _emval_run_destructors(emscripten::internal::EM_DESTRUCTORS) {}

}  // extern "C"

EMSCRIPTEN_BINDINGS(types) {
  using emscripten::memory_view;
  register_type<void>(Kind::none);
  register_type<bool>(Kind::boolean);
  register_type<int>(Kind::i32);
  register_type<unsigned>(Kind::u32);
  register_type<unsigned long>(Kind::u32);
  register_type<float>(Kind::f32);
  register_type<double>(Kind::f64);
  register_type<emscripten::val>(Kind::value);
  register_type<memory_view<std::uint8_t>>(Kind::u8_view);
  register_type<memory_view<std::int32_t>>(Kind::i32_view);
  register_type<memory_view<std::int64_t>>(Kind::i64_view);
  register_type<memory_view<float>>(Kind::f32_view);
}
