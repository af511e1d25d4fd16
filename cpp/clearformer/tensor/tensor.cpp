#include "clearformer/tensor/tensor.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#if __has_include(<sys/mman.h>) && !defined(__EMSCRIPTEN__)
#include <sys/mman.h>
#endif

namespace clearformer {

namespace {
constexpr Shape kNoElements{0};

// Asks for large pages where they fit: with small ones, reading weights waits for page tables.
void use_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::size_t kPage = std::size_t{1} << 21;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) % kPage;
  if (bytes < before + kPage) return;
  madvise(static_cast<char*>(memory) + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE);
#endif
}
}  // namespace

void* try_allocate_aligned(std::size_t bytes) {
  // For larger sizes an allocator's own arithmetic wraps around.
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() - 0xFFFF;
  if (bytes > kMost) return nullptr;
  void* memory = ::operator new(bytes, std::align_val_t{Tensor::kAlignment}, std::nothrow);
  if (memory != nullptr) use_large_pages(memory, bytes);
  return memory;
}

void* allocate_aligned(std::size_t bytes) {
  void* memory = try_allocate_aligned(bytes);
  if (memory == nullptr) {
    fail(ErrorCode::out_of_memory, "out of memory: an allocation of ", bytes, " bytes was refused");
  }
  return memory;
}

void release_aligned(void* memory) {
  ::operator delete(memory, std::align_val_t{Tensor::kAlignment});
}

std::size_t room_for(std::size_t count) {
  release_aligned(allocate_aligned(count > SIZE_MAX / 8 ? SIZE_MAX : 8 * count));
  return count;
}

void TensorView::expect_dtype(DType wanted) const {
  if (dtype_ != wanted) {
    fail(ErrorCode::dtype_mismatch, "tensor of shape ", shape_.text(), " holds ", to_string(dtype_),
         ", expected ", to_string(wanted));
  }
}

namespace {
void expect_same_elements(const Shape& from, const Shape& to) {
  if (from.elements() != to.elements()) {
    fail(ErrorCode::shape_mismatch, "reshape: ", from.text(), " has ", from.elements(),
         " elements, ", to.text(), " has ", to.elements());
  }
}
}  // namespace

TensorView TensorView::reshaped(Shape shape) const {
  expect_same_elements(shape_, shape);
  return {data_, dtype_, shape};
}

MutableTensorView MutableTensorView::reshaped(Shape shape) const {
  expect_same_elements(shape_, shape);
  return {data(), dtype_, shape};
}

namespace {
// The number of tensors that own this memory, in the alignment unit before it.
std::size_t& owners(void* memory) {
  return *reinterpret_cast<std::size_t*>(static_cast<char*>(memory) - Tensor::kAlignment);
}
}  // namespace

void Tensor::Free::operator()(void* memory) const {
  if (--owners(memory) == 0) release_aligned(static_cast<char*>(memory) - kAlignment);
}

Tensor::Tensor(Shape shape, DType dtype, std::size_t spare) : dtype_(dtype), shape_(shape) {
  std::size_t bytes = 0;
  if (__builtin_add_overflow(shape.elements(), spare, &capacity_) ||
      __builtin_mul_overflow(capacity_, size_of(dtype), &bytes)) {
    fail(ErrorCode::out_of_memory, "out of memory: a tensor of shape ", shape.text(), " of ",
         to_string(dtype), " does not fit the address space");
  }
  // What overflows here is too large for the allocator as well.
  if (__builtin_add_overflow(bytes, kAlignment + 1, &bytes)) bytes = SIZE_MAX;
  auto* const first = static_cast<char*>(allocate_aligned(bytes));
  memory_.reset(first + kAlignment);
  owners(memory_.get()) = 1;
}

Tensor& Tensor::operator=(Tensor&& other) noexcept {
  memory_ = std::move(other.memory_);
  dtype_ = std::exchange(other.dtype_, DType::f32);
  shape_ = std::exchange(other.shape_, kNoElements);
  capacity_ = std::exchange(other.capacity_, 0);
  return *this;
}

Tensor Tensor::zeros(Shape shape, DType dtype) {
  Tensor tensor(shape, dtype);
  std::memset(tensor.data(), 0, tensor.elements() * size_of(dtype));
  return tensor;
}

void Tensor::reshape(Shape shape) {
  expect_same_elements(shape_, shape);
  shape_ = shape;
}

Tensor Tensor::clone() const { return copy_of(view()); }

Tensor Tensor::share() const {
  Tensor other;
  if (memory_ != nullptr) ++owners(memory_.get());
  other.memory_.reset(memory_.get());
  other.dtype_ = dtype_;
  other.shape_ = shape_;
  other.capacity_ = capacity_;
  return other;
}

Tensor Tensor::copy_of(const TensorView& view) {
  Tensor tensor(view.shape(), view.dtype());
  if (view.bytes() != 0) std::memcpy(tensor.data(), view.data(), view.bytes());
  return tensor;
}

Shape broadcast_shape(const Shape& left, const Shape& right) {
  const std::size_t rank = left.rank() > right.rank() ? left.rank() : right.rank();
  Shape shape;
  for (std::size_t axis = rank; axis-- > 0;) {
    const std::size_t a = axis < left.rank() ? left.back(axis) : 1;
    const std::size_t b = axis < right.rank() ? right.back(axis) : 1;
    if (a != b && a != 1 && b != 1) {
      fail(ErrorCode::shape_mismatch, "shapes ", left.text(), " and ", right.text(),
           " do not broadcast");
    }
    shape.append(a == 1 ? b : a);
  }
  return shape;
}

Tensor broadcast_to(const TensorView& view, const Shape& shape) {
  const Shape& from = view.shape();
  if (!(broadcast_shape(from, shape) == shape)) {
    fail(ErrorCode::shape_mismatch, "shape ", from.text(), " does not broadcast to ", shape.text());
  }
  Tensor result(shape, view.dtype());
  if (result.elements() == 0) return result;
  const std::size_t width = size_of(view.dtype()), count = shape.elements();
  const char* source = static_cast<const char*>(view.data());
  char* target = static_cast<char*>(result.data());
  for (std::size_t i = 0; i < count; ++i, target += width) {
    std::size_t rest = i, at = 0, stride = 1;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const std::size_t index = rest % shape.back(axis);
      rest /= shape.back(axis);
      if (axis >= from.rank()) continue;
      if (from.back(axis) != 1) at += index * stride;
      stride *= from.back(axis);
    }
    std::memcpy(target, source + at * width, width);
  }
  return result;
}

}  // namespace clearformer
