// MemoryBudget: the memory limit, so that requests beyond it are rejected before anything is read or computed.
// Requests state a lower bound of what they need: an allocation can still fail after the check has passed.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace clearformer {

/// The memory of this process or instance. Natively the only limit is the address space; the WebAssembly module
/// sets its own.
struct MemoryBudget {
  std::uint64_t limit = std::numeric_limits<std::size_t>::max();  // bytes
  std::uint64_t (*used)() = nullptr;                              // bytes in use; null: 0

  std::uint64_t left() const;
};

/// The budget that all requests are checked against.
MemoryBudget& memory_budget();

/// "6.5 GB", "12.3 MB": decimal units, one digit after the point.
std::string size_text(std::uint64_t bytes);

/// a · b, saturated at the largest number.
std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b);

/// a + b, saturated at the largest number.
std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b);

/// Throws out_of_memory if `bytes` exceeds what is left: "`what` 6.5 GB, and 4.1 GB of 4.3 GB are left`cure`".
void expect_memory(std::uint64_t bytes, std::string_view what, std::string_view cure = "");

}  // namespace clearformer
