#include "clearformer/layers/weight_gradients.h"

#include <algorithm>
#include <cstring>

#include "clearformer/kernels/norm_backward.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// Rows of a gradient that is no packed weight's, or of a part of it.
class GradientRows : public WeightRows {
 public:
  GradientRows(Tensor sums, std::size_t first, std::size_t outputs, std::size_t inputs)
      : sums_(std::move(sums)), first_(first), outputs_(outputs), inputs_(inputs) {}

  MatrixFormat format() const override { return MatrixFormat::f32; }
  std::size_t outputs() const override { return outputs_; }
  std::size_t inputs() const override { return inputs_; }
  std::size_t bytes() const override { return outputs_ * inputs_ * sizeof(float); }
  WeightPlace place() const override { return {sums_.data(), first_, sums_.elements(), false}; }
  void copy_row(std::size_t output, float* to) const override {
    std::copy_n(sums_.f32() + first_ + output * inputs_, inputs_, to);
  }
  void set_row(std::size_t output, const float* row) override {
    std::copy_n(row, inputs_, sums_.f32() + first_ + output * inputs_);
  }

 private:
  Tensor sums_;
  std::size_t first_, outputs_, inputs_;
};

}  // namespace

const WeightGradients::Sums* WeightGradients::find(const void* weight) const {
  for (const Sums& sums : sums_) {
    if (sums.weight == weight) return &sums;
  }
  return nullptr;
}

void WeightGradients::want(const Parameter& parameter) {
  const WeightPlace place = parameter.rows->place();
  if (place.numbers == nullptr || find(place.numbers) != nullptr) return;
  Sums sums{place.numbers, nullptr, Tensor(), 0};
  if (place.panels) {
    sums.panels = std::make_shared<kernels::PanelGradient>(parameter.rows->outputs(),
                                                           parameter.rows->inputs());
  } else {
    sums.numbers = Tensor::zeros({place.count});
  }
  sums_.push_back(std::move(sums));
}

kernels::PanelGradient* WeightGradients::of(const kernels::PackedMatrix& weight) const {
  const Sums* sums = find(weight.place().numbers);
  if (sums == nullptr) return nullptr;
  sums->pass = pass_;
  return sums->panels.get();
}

float* WeightGradients::of(const Tensor& weight) const {
  const Sums* sums = weight.empty() ? nullptr : find(weight.data());
  if (sums == nullptr) return nullptr;
  sums->pass = pass_;
  return const_cast<Sums*>(sums)->numbers.f32();
}

bool WeightGradients::reached(const Parameter& parameter) const {
  const Sums* sums = find(parameter.rows->place().numbers);
  return sums != nullptr && sums->pass == pass_;
}

std::shared_ptr<WeightRows> WeightGradients::rows(const Parameter& parameter) const {
  const WeightPlace place = parameter.rows->place();
  const Sums* sums = find(place.numbers);
  if (sums == nullptr) return nullptr;
  if (sums->panels != nullptr) return sums->panels;
  return std::make_shared<GradientRows>(sums->numbers.share(), place.first,
                                        parameter.rows->outputs(), parameter.rows->inputs());
}

std::size_t WeightGradients::bytes() const {
  std::size_t bytes = 0;
  for (const Sums& sums : sums_) {
    bytes += sums.panels != nullptr ? sums.panels->bytes() : sums.numbers.view().bytes();
  }
  return bytes;
}

void WeightGradients::clear() {
  for (Sums& sums : sums_) {
    if (sums.panels != nullptr) {
      sums.panels->clear();
    } else {
      std::memset(sums.numbers.data(), 0, sums.numbers.view().bytes());
    }
  }
}

void add_sum_of_rows(const float* a, const float* b, std::size_t rows, std::size_t columns,
                     float* to) {
  constexpr std::size_t kRun = 16;  // whole registers
  parallel_ranges(columns, 2 * rows, kRun, [&](std::size_t first, std::size_t end) {
    kernels::add_column_sums(a + first, b == nullptr ? nullptr : b + first, rows, columns,
                             end - first, to + first);
  });
}

}  // namespace clearformer
