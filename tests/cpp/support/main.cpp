// The entry point of the test programs. CLEARFORMER_SIMD names the instruction set to test; if
// the processor does not support it, the program reports so and exits with the code that CTest counts as skipped.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "clearformer/simd/dispatch.h"

// Read by the sanitizers: allocations of absurd sizes fail, as they do without them.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;
  ::testing::InitGoogleTest(&argc, argv);
  const std::string runs = clearformer::simd::name_of(clearformer::simd::selected());
  const char* wanted = std::getenv("CLEARFORMER_SIMD");
  if (wanted != nullptr && runs != wanted) {
    std::printf("SKIPPED: this processor lacks %s; it runs %s\n", wanted, runs.c_str());
    return kSkipped;
  }
  std::printf("instruction set: %s\n", runs.c_str());
  if (::testing::UnitTest::GetInstance()->total_test_count() == 0) return 1;
  return RUN_ALL_TESTS();
}
