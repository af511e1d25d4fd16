// Tensor owns its elements; TensorView and MutableTensorView borrow them. Always contiguous and row-major.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "clearformer/tensor/dtype.h"
#include "clearformer/tensor/shape.h"

namespace clearformer {

/// A read-only view. The owner must outlive it.
class TensorView {
 public:
  TensorView() = default;
  TensorView(const void* data, DType dtype, Shape shape)
      : data_(data), dtype_(dtype), shape_(shape) {}

  const Shape& shape() const { return shape_; }
  std::size_t dim(std::size_t axis) const { return shape_[axis]; }
  DType dtype() const { return dtype_; }
  std::size_t elements() const { return shape_.elements(); }
  std::size_t bytes() const { return elements() * size_of(dtype_); }
  const void* data() const { return data_; }

  /// The elements as T; throws dtype_mismatch if they have another type.
  template <class T>
  const T* as() const {
    expect_dtype(DTypeOf<T>::value);
    return static_cast<const T*>(data_);
  }
  const float* f32() const { return as<float>(); }

  /// The same elements under another shape of equal element count.
  TensorView reshaped(Shape shape) const;

 protected:
  void expect_dtype(DType wanted) const;

  const void* data_ = nullptr;
  DType dtype_ = DType::f32;
  Shape shape_{0};
};

/// A writable view.
class MutableTensorView : public TensorView {
 public:
  MutableTensorView() = default;
  MutableTensorView(void* data, DType dtype, Shape shape) : TensorView(data, dtype, shape) {}

  template <class T>
  T* as() const {
    expect_dtype(DTypeOf<T>::value);
    return static_cast<T*>(const_cast<void*>(data_));
  }
  float* f32() const { return as<float>(); }
  void* data() const { return const_cast<void*>(data_); }
  MutableTensorView reshaped(Shape shape) const;
};

/// Owns 64-byte aligned memory; movable, copied by clone() only, with a second owner by share(). Elements are
/// uninitialised.
class Tensor {
 public:
  static constexpr std::size_t kAlignment = 64;

  Tensor() = default;
  /// Allocates `spare` elements after the last one, free for the owner's use.
  explicit Tensor(Shape shape, DType dtype = DType::f32, std::size_t spare = 0);

  /// What has been moved from is empty, as Tensor().
  Tensor(Tensor&& other) noexcept : shape_() { *this = std::move(other); }
  Tensor& operator=(Tensor&& other) noexcept;

  static Tensor zeros(Shape shape, DType dtype = DType::f32);
  Tensor clone() const;
  /// Another owner of the same elements: both see what is written through either. The number of owners is not atomic:
  /// they belong to one thread at a time.
  Tensor share() const;
  static Tensor copy_of(const TensorView& view);
  /// Changes the shape to another of equal element count.
  void reshape(Shape shape);

  const Shape& shape() const { return shape_; }
  std::size_t dim(std::size_t axis) const { return shape_[axis]; }
  DType dtype() const { return dtype_; }
  std::size_t elements() const { return shape_.elements(); }
  /// Elements that fit the allocation, including the spare ones.
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return memory_ == nullptr; }
  void* data() { return memory_.get(); }
  const void* data() const { return memory_.get(); }
  float* f32() { return mutable_view().f32(); }
  const float* f32() const { return view().f32(); }

  TensorView view() const { return {memory_.get(), dtype_, shape_}; }
  MutableTensorView mutable_view() { return {memory_.get(), dtype_, shape_}; }
  operator TensorView() const { return view(); }  // NOLINT: implicit
  operator TensorView() { return view(); }        // NOLINT: g++ -Wconversion warns without it
  operator MutableTensorView() { return mutable_view(); }  // NOLINT

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<void, Free> memory_;  // behind the number of its owners
  DType dtype_ = DType::f32;
  Shape shape_{0};
  std::size_t capacity_ = 0;
};

/// A copy broadcast to `shape`: repeated along axes of extent 1 and new leading axes. Throws shape_mismatch if the
/// shapes do not broadcast.
Tensor broadcast_to(const TensorView& view, const Shape& shape);

/// The common shape of two shapes under broadcasting, aligned from the right; throws shape_mismatch naming both.
Shape broadcast_shape(const Shape& left, const Shape& right);

/// 64-byte aligned memory; throws out_of_memory stating the size. Free it with release_aligned.
void* allocate_aligned(std::size_t bytes);
/// The same, or nullptr.
void* try_allocate_aligned(std::size_t bytes);
/// Frees memory from allocate_aligned.
void release_aligned(void* memory);
/// The same count, unless so many float64 numbers are more than memory holds: then throws out_of_memory, where a
/// container would throw std::length_error.
std::size_t room_for(std::size_t count);

}  // namespace clearformer
