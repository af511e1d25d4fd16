#include "clearformer/tensor/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

TEST(Arena, TensorsAreAlignedAndDoNotOverlap) {
  Arena arena;
  std::vector<MutableTensorView> taken;
  for (std::size_t i = 0; i < 300; ++i) {
    taken.push_back(arena.take({i % 7, 1 + i % 50}, i % 2 == 0 ? DType::f32 : DType::u8));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(taken.back().data()) % Tensor::kAlignment, 0u);
    if (taken.back().bytes() != 0) {
      std::memset(taken.back().data(), static_cast<int>(i % 251), taken.back().bytes());
    }
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(taken[i].data());
    for (std::size_t byte = 0; byte < taken[i].bytes(); ++byte) ASSERT_EQ(bytes[byte], i % 251);
  }
}

TEST(Arena, AFrameGivesItsMemoryBack) {
  Arena arena;
  const MutableTensorView kept = arena.take({10});
  std::memset(kept.data(), 1, kept.bytes());
  void* first = nullptr;
  for (int pass = 0; pass < 3; ++pass) {
    const Arena::Frame frame(arena);
    const MutableTensorView inner = arena.take({1000});
    EXPECT_NE(inner.data(), kept.data());
    if (pass == 0) first = inner.data();
    EXPECT_EQ(inner.data(), first) << "pass " << pass;
    std::memset(inner.data(), 2, inner.bytes());
  }
  EXPECT_EQ(static_cast<const unsigned char*>(kept.data())[39], 1u);
}

TEST(Arena, InnerFramesLeaveOuterTensorsAlone) {
  Arena arena;
  const Arena::Frame outer(arena);
  const MutableTensorView a = arena.take({20'000});  // more than one block holds
  std::memset(a.data(), 1, a.bytes());
  {
    const Arena::Frame inner(arena);
    const MutableTensorView b = arena.take({50'000});
    std::memset(b.data(), 2, b.bytes());
  }
  const MutableTensorView c = arena.take({30'000});
  std::memset(c.data(), 3, c.bytes());
  for (std::size_t byte = 0; byte < a.bytes(); ++byte) {
    ASSERT_EQ(static_cast<const unsigned char*>(a.data())[byte], 1u);
  }
}

// After a pass that needed several blocks, the next pass of that size fits one and allocates nothing.
TEST(Arena, ARepeatedPassAllocatesNothing) {
  Arena arena;
  const auto pass = [&arena] {
    const Arena::Frame frame(arena);
    for (const std::size_t length : {1'000u, 40'000u, 7u, 90'000u}) {
      const MutableTensorView x = arena.take({length});
      std::memset(x.data(), 5, x.bytes());
    }
    return arena.bytes();
  };
  const std::size_t needed = pass();
  const std::size_t merged = arena.bytes();
  EXPECT_LE(merged, needed);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(pass(), merged);
}

TEST(Arena, FramesOfRandomDepthKeepEveryLiveTensor) {
  Arena arena;
  Random random(1);
  const auto descend = [&](const auto& self, std::size_t depth) -> void {
    const Arena::Frame frame(arena);
    const MutableTensorView own = arena.take({1 + random.below(30'000)});
    const int mark = static_cast<int>(depth + 1);
    std::memset(own.data(), mark, own.bytes());
    const std::size_t children = depth == 5 ? 0 : random.below(3);
    for (std::size_t child = 0; child < children; ++child) self(self, depth + 1);
    const auto* bytes = static_cast<const unsigned char*>(own.data());
    for (std::size_t byte = 0; byte < own.bytes(); byte += 97) ASSERT_EQ(bytes[byte], mark);
  };
  for (int repeat = 0; repeat < 100; ++repeat) descend(descend, 0);
}

TEST(Arena, SizesBeyondTheAddressSpaceAreRefused) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  Arena arena;
  expect_error(ErrorCode::out_of_memory, {"more elements"}, [&] { arena.take({kMost, 2}); });
  expect_error(ErrorCode::out_of_memory, {"activation", "[" + std::to_string(kMost / 2) + "]"},
               [&] { arena.take({kMost / 2}); });
  // A number of bytes that fits size_t until it is rounded up to the alignment.
  expect_error(ErrorCode::out_of_memory, {"out of memory"}, [&] { arena.take({kMost / 4}); });
  expect_error(ErrorCode::out_of_memory, {"out of memory"},
               [&] { arena.take({kMost}, DType::u8); });
  EXPECT_NE(arena.take({3}).data(), nullptr) << "unusable after a refusal";
}

TEST(Arena, FramesAreCountedAndMayCloseInAnyOrder) {
  Arena arena;
  const auto first = [&] {
    const Arena::Frame frame(arena);
    return arena.take({3}).data();
  };
  const void* const begin = first();
  std::optional<Arena::Frame> outer(std::in_place, arena), inner;
  arena.take({100});
  inner.emplace(arena);
  EXPECT_EQ(arena.frames(), 2u);
  outer.reset();
  EXPECT_EQ(arena.frames(), 1u);
  inner.reset();
  EXPECT_EQ(arena.frames(), 0u);
  EXPECT_EQ(first(), begin);
}

}  // namespace
}  // namespace clearformer::test
