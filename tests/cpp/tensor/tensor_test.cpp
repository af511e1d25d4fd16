#include "clearformer/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/expect_error.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

TEST(Tensor, IsAlignedForEveryShapeAndDType) {
  for (const DType dtype : {DType::f32, DType::i64, DType::u8}) {
    for (std::size_t length = 0; length < 40; ++length) {
      const Tensor tensor({length, 3}, dtype);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % Tensor::kAlignment, 0u);
      EXPECT_EQ(tensor.elements(), 3 * length);
      EXPECT_FALSE(tensor.empty());
    }
  }
}

TEST(Tensor, DefaultIsEmpty) {
  const Tensor tensor;
  EXPECT_TRUE(tensor.empty());
  EXPECT_EQ(tensor.elements(), 0u);
}

TEST(Tensor, AScalarHoldsOneElement) {
  Tensor scalar = Tensor::zeros({});
  scalar.f32()[0] = 2.0f;
  EXPECT_EQ(scalar.clone().f32()[0], 2.0f);
}

TEST(Tensor, SpareElementsCountForCapacityOnly) {
  const Tensor tensor({3, 4}, DType::f32, 20);
  EXPECT_EQ(tensor.elements(), 12u);
  EXPECT_EQ(tensor.capacity(), 32u);
}

TEST(Tensor, CloneCopiesAndMoveHandsOver) {
  Tensor source = Random(1).tensor({2, 3});
  const Tensor copy = source.clone();
  EXPECT_NE(copy.data(), source.data());
  expect_same_bits("copy", copy, source);
  source.f32()[4] = 9.0f;
  EXPECT_NE(copy.f32()[4], 9.0f);
  const void* memory = source.data();
  const Tensor moved = std::move(source);
  EXPECT_EQ(moved.data(), memory);
}

TEST(Tensor, ReshapeKeepsTheElementsAndTheirNumber) {
  Tensor tensor = Random(2).tensor({2, 6});
  const Tensor before = tensor.clone();
  tensor.reshape({3, 2, 2});
  EXPECT_EQ(tensor.shape(), (Shape{3, 2, 2}));
  expect_same_bits("elements", tensor.view().reshaped({2, 6}), before);
  expect_error(ErrorCode::shape_mismatch, {"[3, 2, 2]", "12", "[5]"}, [&] { tensor.reshape({5}); });
  expect_error(ErrorCode::shape_mismatch, {"[3, 2, 2]", "[13]"},
               [&] { tensor.view().reshaped({13}); });
  expect_error(ErrorCode::shape_mismatch, {"[3, 2, 2]", "[11]"},
               [&] { tensor.mutable_view().reshaped({11}); });
}

TEST(Tensor, AWrongElementTypeIsRefused) {
  const Tensor tensor({2, 3}, DType::i64);
  expect_error(ErrorCode::dtype_mismatch, {"[2, 3]", "int64", "float32"}, [&] { tensor.f32(); });
  expect_error(ErrorCode::dtype_mismatch, {"int64", "int32"},
               [&] { tensor.view().as<std::int32_t>(); });
}

// With 32-bit addresses the end of such a block wraps around, beyond memory in use.
TEST(Tensor, ARefusedGiantLeavesTheHeapAsItWas) {
  if (sizeof(std::size_t) > 4) GTEST_SKIP() << "addresses of 64 bits do not wrap";
  const Tensor before = Tensor::zeros({1 << 20}, DType::u8);
  for (const std::size_t spare : {64u, 256u, 4096u, 1u << 20}) {
    expect_error(ErrorCode::out_of_memory, {"refused"},
                 [spare] { Tensor({std::size_t{0} - spare}, DType::u8); });
    Tensor after({1 << 20}, DType::u8);
    std::memset(after.data(), 1, after.elements());
  }
  const auto* bytes = static_cast<const char*>(before.data());
  EXPECT_TRUE(std::all_of(bytes, bytes + (1 << 20), [](char byte) { return byte == 0; }));
}

TEST(Tensor, SizesBeyondTheAddressSpaceAreRefused) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  expect_error(ErrorCode::out_of_memory, {"more elements"}, [] { Tensor({kMost, 2}); });
  // A number of elements that fits size_t, and a number of bytes that does not.
  expect_error(ErrorCode::out_of_memory, {"[" + std::to_string(kMost / 2) + "]", "float32"},
               [] { Tensor({kMost / 2}); });
  expect_error(ErrorCode::out_of_memory, {"address space"},
               [] { Tensor({8}, DType::f32, kMost - 4); });
}

TEST(Tensor, AnAllocationTheSystemRefusesIsATypedError) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  expect_error(ErrorCode::out_of_memory, {"out of memory", "bytes"},
               [] { Tensor({kMost / 4 - 100}); });
}

TEST(TensorView, ReadsWhatItBorrows) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const TensorView view(values, DType::f32, {2, 3});
  EXPECT_EQ(view.bytes(), 24u);
  EXPECT_EQ(view.dim(1), 3u);
  EXPECT_EQ(view.f32()[5], 6.0f);
  EXPECT_EQ(TensorView().elements(), 0u);
}

TEST(Tensor, WhatHasBeenMovedFromIsEmpty) {
  Tensor source = Random(1).tensor({2, 3});
  const Tensor moved(std::move(source));
  EXPECT_TRUE(source.empty());
  EXPECT_EQ(source.elements(), 0u);
  EXPECT_EQ(source.capacity(), 0u);
  Tensor ids({2}, DType::i32);
  const Tensor taken(std::move(ids));
  EXPECT_EQ(ids.dtype(), DType::f32);
}

}  // namespace
}  // namespace clearformer::test
