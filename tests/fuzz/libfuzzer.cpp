// libFuzzer's entry point: calls the target that this program was built for. An exception from the target ends the
// program, and libFuzzer keeps the input.
#include <cstdint>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const clearformer::fuzz::Target* const target =
      clearformer::fuzz::find_target(CLEARFORMER_FUZZ_TARGET);
  target->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
