// Border functions of the builds with shared memory: the threads of the pool, which JavaScript makes.
#pragma once

#include "bindings/marshal.h"

namespace clearformer::bindings {

#if defined(__wasm_atomics__)
/// { threads } -> { entry, failed, slots }: makes a stack for each thread but the caller's. Each is then
/// an instance of the module on the same memory, in a worker of its own, that calls the function at
/// `entry` of the table with its slot. That call does not return; if it traps, the one at `failed` is
/// called the same way.
emscripten::val threads_prepare(const Arguments& arguments);
/// { threads, caller_may_sleep } -> {}: from now on loops are shared out to so many.
emscripten::val threads_use(const Arguments& arguments);
#endif

}  // namespace clearformer::bindings
