// The models and the digest of the tests in this folder, and which allocations they let fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "support/environment.h"

namespace clearformer::test {

struct Subject {
  const char* name;
  const char* folder;  // under tests/fixtures/models
  const char* task;
  bool generates;

  constexpr bool is(std::string_view other) const { return other == name; }
};
constexpr Subject kSubjects[] = {{"llama", "../llama_tiny/odd", "causal-lm", true},
                                 {"bert", "bert/odd_base", "base", false},
                                 {"t5", "t5/even", "seq2seq-lm", true},
                                 {"vit", "vit/odd_base", "base", false}};

// An order-dependent hash of all bits (FNV-1a).
class Digest {
 public:
  void add(const void* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      sum_ = (sum_ ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
    }
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

/// The step between failing allocations: 1, or a prime, so that allocations at regular intervals are not all
/// skipped.
inline std::size_t stride(std::size_t usual) {
  return is_set("CLEARFORMER_EVERY_ALLOCATION") ? 1 : usual;
}

}  // namespace clearformer::test
