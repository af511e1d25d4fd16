#include "clearformer/layers/past_rows.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "clearformer/layers/encoder.h"

namespace clearformer {

PastRows& PastRows::in(std::unique_ptr<PastState>& past) {
  if (past == nullptr) past = std::make_unique<PastRows>();
  return static_cast<PastRows&>(*past);
}

bool PastRows::holds(std::size_t length, std::size_t batch, const StackConfig& stack) const {
  if (length_ != length || !stack.convolution) return false;
  return length == 0 || (rows_.dim(0) == batch && rows_.dim(2) == stack.convolution->d_model);
}

void PastRows::expect_reach(std::size_t length, std::size_t layer) const {
  const bool reached =
      length == 0 || length >= length_ || first() == 0 || length >= first() + overlap_;
  if (reached) return;
  fail(ErrorCode::unsupported, "key/value cache: layer ", layer,
       " is a convolution and holds its inputs from position ", first(),
       " on, too few to go back to ", length);
}

std::unique_ptr<PastState> PastRows::part(std::span<const std::size_t> rows, std::size_t length,
                                          std::size_t more) const {
  auto made = std::make_unique<PastRows>();
  if (length == 0) return made;
  PastRows& result = *made;
  const std::size_t end = held_ - (length_ - length), width = rows_.dim(2);
  result.length_ = length;
  result.overlap_ = overlap_;
  result.held_ = std::min(end, kReach + overlap_);
  result.rows_ = Tensor({rows.size(), result.held_ + more, width});
  const float* const from = rows_.f32() + (end - result.held_) * width;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::memcpy(result.rows_.f32() + row * result.rows_.dim(1) * width,
                from + rows[row] * rows_.dim(1) * width, result.held_ * width * sizeof(float));
  }
  return made;
}

void PastRows::expect_room(std::size_t batch, std::size_t more, std::size_t width) {
  if (length_ == 0) {
    rows_ = Tensor({batch, more, width});
    return;
  }
  if (rows_.dim(0) != batch) {
    fail(ErrorCode::shape_mismatch, "key/value cache: it holds ", rows_.dim(0),
         " sequences, the input has ", batch);
  }
  if (held_ + more <= rows_.dim(1) && held_ <= 2 * (kReach + overlap_)) return;
  std::vector<std::size_t> all(batch);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::unique_ptr<PastState> larger = part(all, length_, more + kReach);
  *this = std::move(static_cast<PastRows&>(*larger));
}

void PastRows::extend(const MutableTensorView& window, std::size_t overlap) {
  const std::size_t rows = window.dim(1), width = window.dim(2), more = rows - overlap;
  overlap_ = overlap;
  expect_room(window.dim(0), more, width);
  const std::size_t known = std::min(held_, overlap);
  const auto copy = [width](const float* from, float* to, std::size_t count) {
    std::memcpy(to, from, count * width * sizeof(float));
  };
  for (std::size_t sequence = 0; sequence < window.dim(0); ++sequence) {
    float* const to = window.f32() + sequence * rows * width;
    float* const end = rows_.f32() + (sequence * rows_.dim(1) + held_) * width;
    copy(end - known * width, to + (overlap - known) * width, known);
    copy(to + overlap * width, end, more);
  }
  held_ += more;
  length_ += more;
}

void PastRows::crop(std::size_t length) {
  if (length >= length_) return;
  held_ = length == 0 ? 0 : held_ - (length_ - length);
  length_ = length;
  if (length == 0) rows_ = Tensor();
}

}  // namespace clearformer
