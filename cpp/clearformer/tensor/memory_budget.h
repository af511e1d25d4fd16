// MemoryBudget: how much memory there is, so that what takes more is refused before anything is read or computed. A
// request's least need is told, not its exact one: what is let through may still meet a refused allocation.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace clearformer {

/// The memory of this process or instance. Natively there is no limit but the address space; the WebAssembly
/// module sets its own.
struct MemoryBudget {
  std::uint64_t limit = std::numeric_limits<std::size_t>::max();  // bytes
  std::uint64_t (*used)() = nullptr;                              // by what is held now; null: 0

  std::uint64_t left() const;
};

/// The budget that all requests are compared with.
MemoryBudget& memory_budget();

/// "6.5 GB", "12.3 MB": decimal units, one digit behind the point.
std::string size_text(std::uint64_t bytes);

/// a · b, or the largest number where that is more.
std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b);

/// Throws out_of_memory where `bytes` are more than is left: "`what` 6.5 GB, and 4.1 GB of 4.3 GB are left`cure`".
void expect_memory(std::uint64_t bytes, std::string_view what, std::string_view cure = "");

}  // namespace clearformer
