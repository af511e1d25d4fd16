// Border functions of the builds with shared memory: the threads of the pool, which JavaScript makes.

#include <emscripten/bind.h>
#include <pthread.h>

#include <cstdint>
#include <new>

#include "bindings/marshal.h"
#include "clearformer/tensor/thread_pool.h"

extern "C" {
void _emscripten_stack_restore(void* top);  // sets the stack pointer; compiler-rt's stack_ops.S
void __wasm_init_tls(void* memory);         // made by the linker

// The C++ library locks where it makes exceptions and static locals. That is the business of the one
// thread that JavaScript calls; those of the pool do neither, so there is nothing to lock against.
int pthread_mutex_lock(pthread_mutex_t*) { return 0; }
int pthread_mutex_unlock(pthread_mutex_t*) { return 0; }
}

namespace clearformer::bindings {

using emscripten::val;

namespace {

constexpr std::size_t kStackBytes = 128 * 1024;  // kernels keep little on it and never recurse
constexpr std::size_t kAlignment = 64;

// What a thread is handed. It is never freed: the thread lives as long as the memory.
struct Slot {
  void* stack_top;
  void* tls;
  std::size_t worker;
};

// The thread-local variables of the thread that JavaScript calls, the unwinder's among them: without
// Emscripten's own threads nobody else sets them up, and no exception would find its handler.
[[gnu::constructor(48)]] void init_main_tls() {
  alignas(kAlignment) static char memory[1024];
  if (__builtin_wasm_tls_size() > sizeof memory) __builtin_trap();
  __wasm_init_tls(memory);
}

[[noreturn, gnu::noinline]] void serve(std::size_t worker) { serve_parallel_loops(worker); }

// Runs in a new instance, whose stack pointer is still the caller's stack: so it keeps nothing on the
// stack before it has set its own, and the work is in a function that is not inlined.
void thread_main(const Slot* slot) {
  _emscripten_stack_restore(slot->stack_top);
  __wasm_init_tls(slot->tls);
  serve(slot->worker);
}

void thread_failed(const Slot*) { break_parallel_loops(); }

std::size_t rounded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <class T>
double address_of(T* memory) {
  return static_cast<double>(reinterpret_cast<std::uintptr_t>(memory));
}

std::size_t threads_in(const Arguments& arguments) {
  const std::uint64_t threads = arguments.count("threads");
  if (threads == 0 || threads > kMaxThreads) {
    fail(ErrorCode::invalid_argument, "\"threads\" must be 1 … ", kMaxThreads, ", not ", threads);
  }
  return static_cast<std::size_t>(threads);
}

/// { threads } -> { entry, failed, slots }: makes a stack for each thread but the caller's. Each is then
/// an instance of the module on the same memory, in a worker of its own, that calls the function at
/// `entry` of the table with its slot. That call does not return; if it traps, the one at `failed` is
/// called the same way.
val threads_prepare(const Arguments& arguments) {
  const std::size_t threads = threads_in(arguments);
  const std::size_t tls = rounded(__builtin_wasm_tls_size());
  const std::size_t head = rounded(sizeof(Slot));
  val slots = val::array();
  for (std::size_t worker = 1; worker < threads; ++worker) {
    char* memory =
        static_cast<char*>(::operator new(head + tls + kStackBytes, std::align_val_t{kAlignment}));
    new (memory) Slot{memory + head + tls + kStackBytes, memory + head, worker};
    slots.call<void>("push", address_of(memory));
  }
  val result = val::object();
  result.set("entry", address_of(&thread_main));
  result.set("failed", address_of(&thread_failed));
  result.set("slots", slots);
  return result;
}

/// { threads, caller_may_sleep } -> {}: from now on loops are shared out to so many.
val threads_use(const Arguments& arguments) {
  set_caller_wait(arguments.flag("caller_may_sleep") ? CallerWait::sleep : CallerWait::spin);
  set_num_threads(threads_in(arguments));
  return val::object();
}

}  // namespace

}  // namespace clearformer::bindings

EMSCRIPTEN_BINDINGS(clearformer_threads) {
  using namespace clearformer::bindings;  // NOLINT: as in bindings.cpp
  emscripten::function("threads_prepare", &guarded<threads_prepare>);
  emscripten::function("threads_use", &guarded<threads_use>);
}
