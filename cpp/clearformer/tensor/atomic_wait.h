// Waiting for an atomic number to change, for the thread pool: futexes natively, wait and notify in
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
// In code that V8 11 (Node 20) has not optimised yet, this instruction destroys the variables of the
// function it stands in. So that function has none to lose, and nobody can inline it.
inline void (*volatile wait_elsewhere)(std::atomic<std::uint32_t>&, std::uint32_t) = wait_here;
}  // namespace detail

/// Returns at the latest when woken after `number` changed from `old`. A browser's main thread may
/// not call it: it would trap.
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

/// A moment of a loop that looks at memory until another thread has changed it.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace clearformer
