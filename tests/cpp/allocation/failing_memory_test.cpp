#include "allocation/failing_memory.h"

#include <gtest/gtest.h>

#ifdef __EMSCRIPTEN__
#include "allocation/counted_malloc.h"
#else
#include "allocation/counted_new.h"
#endif

namespace clearformer::test {

std::size_t live_bytes() { return counted::live; }
std::size_t peak_bytes() { return counted::peak; }
void reset_peak() { counted::peak = counted::live; }

std::size_t allocations() { return counted::calls; }

void fail_allocations(std::size_t which, Failing how) {
  counted::calls = 0;
  counted::first_failing = which;
  counted::last_failing = how == Failing::once ? which : ~std::size_t{0};
}

void stop_failing() {
  counted::calls = 0;
  counted::first_failing = ~std::size_t{0};
  counted::last_failing = 0;
}

namespace {

TEST(FailingMemory, FailsWhenItIsTold) {
  fail_allocations(2, Failing::once);
  void* first = ::operator new(8, std::nothrow);
  void* second = ::operator new(8, std::nothrow);
  void* third = ::operator new(8, std::nothrow);
  stop_failing();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(second, nullptr);
  EXPECT_NE(third, nullptr);
  ::operator delete(first);
  ::operator delete(third);
}

}  // namespace
}  // namespace clearformer::test
