// Blocking waits on an atomic integer, for the thread pool: futexes natively, memory.atomic.wait and notify in
// WebAssembly.
#pragma once

#include <atomic>
#include <cstdint>

namespace clearformer {

#if defined(__wasm_atomics__)

namespace detail {
inline void wait_here(std::atomic<std::uint32_t>& number, std::uint32_t old) {
  constexpr std::int64_t kForEver = -1;
  __builtin_wasm_memory_atomic_wait32(reinterpret_cast<int*>(&number), static_cast<int>(old),
                                      kForEver);
}
// In code not yet optimised by V8 11 (Node 20) this instruction clobbers the local variables of the function
// that contains it. That function therefore has none, and the volatile pointer keeps it from being inlined.
inline void (*volatile wait_elsewhere)(std::atomic<std::uint32_t>&, std::uint32_t) = wait_here;
}  // namespace detail

/// Blocks while `number` equals `old`; returns once woken after a change, possibly earlier. Traps on a
/// browser's main thread.
inline void wait_while_equal(std::atomic<std::uint32_t>& number, std::uint32_t old) {
  detail::wait_elsewhere(number, old);
}

inline void wake_all(std::atomic<std::uint32_t>& number) {
  __builtin_wasm_memory_atomic_notify(reinterpret_cast<int*>(&number), ~0u);
}

#else

inline void wait_while_equal(std::atomic<std::uint32_t>& number, std::uint32_t old) {
  number.wait(old);
}

inline void wake_all(std::atomic<std::uint32_t>& number) { number.notify_all(); }

#endif

/// A CPU hint (pause, yield) for the body of a spin loop.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace clearformer
