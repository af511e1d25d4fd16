#include "clearformer/tensor/memory_budget.h"

#include "clearformer/tensor/error.h"

namespace clearformer {

MemoryBudget& memory_budget() {
  static MemoryBudget budget;
  return budget;
}

std::uint64_t MemoryBudget::left() const {
  const std::uint64_t held = used == nullptr ? 0 : used();
  return held < limit ? limit - held : 0;
}

std::string size_text(std::uint64_t bytes) {
  const bool large = bytes >= 1'000'000'000;
  const std::uint64_t tenths = bytes / (large ? 100'000'000 : 100'000);
  return concat(tenths / 10, ".", tenths % 10, large ? " GB" : " MB");
}

std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                : product;
}

std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) { return a + (b < ~a ? b : ~a); }

void expect_memory(std::uint64_t bytes, std::string_view what, std::string_view cure) {
  const MemoryBudget& budget = memory_budget();
  const std::uint64_t left = budget.left();
  if (bytes <= left) return;
  fail(ErrorCode::out_of_memory, what, " ", size_text(bytes), ", and ", size_text(left), " of ",
       size_text(budget.limit), " are left", cure);
}

}  // namespace clearformer
