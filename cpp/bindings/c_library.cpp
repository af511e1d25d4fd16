// Functions of the C library whose usual definitions link signals, timers and the end of a process into the module.

#include <cstdlib>

extern "C" {

/// There is no process to end and no handler of signals: a trap, after which JavaScript makes no more calls.
void abort() { __builtin_trap(); }

/// The glue would call it for a timer of setitimer(), which the linker then includes with everything it may signal.
void _emscripten_timeout(int, double) {}

}  // extern "C"
