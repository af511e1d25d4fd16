// Functions of the C library whose usual definitions link signals, timers, the end of a process and 64-bit arguments of
// imports into the module.

#include <emscripten/emscripten.h>
#include <time.h>

#include <cstdlib>

extern "C" {

/// There is no process to end and no handler of signals: a trap, after which JavaScript makes no more calls.
void abort() { __builtin_trap(); }

/// The glue would call it for a timer of setitimer(), which the linker then includes with everything it may signal.
void _emscripten_timeout(int, double) {}

/// Every clock is JavaScript's performance.now().
int clock_gettime(clockid_t, timespec* time) {
  const double seconds = emscripten_get_now() * 1e-3;
  time->tv_sec = static_cast<time_t>(seconds);
  time->tv_nsec = static_cast<long>((seconds - static_cast<double>(time->tv_sec)) * 1e9);
  return 0;
}

}  // extern "C"
