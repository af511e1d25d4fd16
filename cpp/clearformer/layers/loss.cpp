#include "clearformer/layers/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "clearformer/kernels/softmax.h"
#include "clearformer/tensor/portable_math.h"
#include "clearformer/tensor/thread_pool.h"

namespace clearformer {

namespace {

// The largest of `count` numbers.
float largest(const float* x, std::size_t count) {
  constexpr std::size_t kSide = 32;  // maxima side by side, which a compiler keeps in registers
  float most[kSide];
  std::fill_n(most, kSide, x[0]);
  std::size_t i = 0;
  for (; i + kSide <= count; i += kSide) {
    for (std::size_t j = 0; j < kSide; ++j) most[j] = x[i + j] > most[j] ? x[i + j] : most[j];
  }
  return std::max(*std::max_element(most, most + kSide),
                  i < count ? *std::max_element(x + i, x + count) : most[0]);
}

// d += factor · (p - target) for one target of all classes.
void add_difference(const float* p, double target, double factor, std::size_t classes, float* d) {
  for (std::size_t v = 0; v < classes; ++v) d[v] += static_cast<float>(factor * (p[v] - target));
}

// p = softmax(x) of one row (V). Returns what is to be added to x_v for log p_v.
double softmax_of_row(const float* x, std::size_t classes, float* p) {
  std::copy_n(x, classes, p);
  kernels::softmax(p, 1, classes, classes);
  // log p_v = x_v - most + log p_most, where p_most is at least 1 / V
  return portable_log(static_cast<double>(largest(p, classes))) - largest(x, classes);
}

// The loss of one row x (V); adds factor · its gradient to d, with room for V floats in p.
double loss_of_row(const float* x, std::size_t classes, std::size_t label, float smoothing,
                   double factor, float* p, float* d) {
  const double log_most = softmax_of_row(x, classes, p);
  const double share = smoothing / static_cast<double>(classes);
  if (d != nullptr) {
    const std::size_t after = label + 1;
    add_difference(p, share, factor, label, d);
    add_difference(p + label, share + (1.0 - smoothing), factor, 1, d + label);
    add_difference(p + after, share, factor, classes - after, d + after);
  }
  const double loss = -(1.0 - smoothing) * (x[label] + log_most);
  if (smoothing == 0.0f) return loss;
  double sum = 0.0;
  for (std::size_t v = 0; v < classes; ++v) sum += x[v];
  return loss - share * (sum + static_cast<double>(classes) * log_most);
}

}  // namespace

std::size_t counted_rows(std::span<const std::int32_t> labels, const CrossEntropy& options) {
  const auto ignored = std::count(labels.begin(), labels.end(), options.ignored);
  return labels.size() - static_cast<std::size_t>(ignored);
}

double cross_entropy(const TensorView& logits, std::span<const std::int32_t> labels,
                     const MutableTensorView& d, const CrossEntropy& options) {
  const std::size_t classes = logits.shape().back(0), rows = logits.elements() / classes;
  if (!(options.label_smoothing >= 0.0f && options.label_smoothing <= 1.0f)) {
    fail(ErrorCode::invalid_argument, "loss: label_smoothing is ", options.label_smoothing,
         ", not 0 to 1");
  }
  for (const std::int32_t label : labels) {
    if (label == options.ignored) continue;
    if (label >= 0 && static_cast<std::size_t>(label) < classes) continue;
    fail(ErrorCode::invalid_argument, "loss: label ", label, " is none of the ", classes,
         " classes");
  }
  const std::size_t counted = options.of == 0 ? counted_rows(labels, options) : options.of;
  if (counted == 0) return std::numeric_limits<double>::quiet_NaN();
  const double factor = options.weight / static_cast<double>(counted);
  std::vector<double> losses(rows, 0.0);
  const std::size_t workers = num_threads();
  std::vector<float> memory(workers * classes);
  parallel_ranges(
      rows, 16 * classes, 1, workers, [&](std::size_t first, std::size_t end, std::size_t worker) {
        for (std::size_t row = first; row < end; ++row) {
          if (labels[row] == options.ignored) continue;
          float* const to = d.data() == nullptr ? nullptr : d.f32() + row * classes;
          losses[row] = loss_of_row(logits.f32() + row * classes, classes,
                                    static_cast<std::size_t>(labels[row]), options.label_smoothing,
                                    factor, memory.data() + worker * classes, to);
        }
      });
  double sum = 0.0;
  for (const double loss : losses) sum += loss;
  return factor * sum;
}

double squared_error(const TensorView& x, const float* y, const MutableTensorView& d,
                     float weight) {
  const std::size_t count = x.elements();
  const double factor = weight / static_cast<double>(count);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double error = static_cast<double>(x.f32()[i]) - y[i];
    sum += error * error;
    d.f32()[i] += static_cast<float>(2.0 * factor * error);
  }
  return factor * sum;
}

double binary_cross_entropy(const TensorView& x, const float* y, const MutableTensorView& d,
                            float weight) {
  const std::size_t count = x.elements();
  const double factor = weight / static_cast<double>(count);
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    const double logit = x.f32()[i], small = portable_exp(-std::fabs(logit));
    const double sigmoid = (logit < 0.0 ? small : 1.0) / (1.0 + small);
    sum += std::max(logit, 0.0) - logit * y[i] + portable_log(1.0 + small);
    d.f32()[i] += static_cast<float>(factor * (sigmoid - y[i]));
  }
  return factor * sum;
}

double soft_cross_entropy(const TensorView& x, const float* y, const MutableTensorView& d,
                          float weight) {
  const std::size_t classes = x.shape().back(0), rows = x.elements() / classes;
  const double factor = weight / static_cast<double>(rows);
  double sum = 0.0;
  std::vector<float> p(classes);
  for (std::size_t at = 0; at < x.elements(); at += classes) {
    const double log_most = softmax_of_row(x.f32() + at, classes, p.data());
    double shares = 0.0;
    for (std::size_t v = 0; v < classes; ++v) {
      shares += y[at + v];
      sum -= y[at + v] * (x.f32()[at + v] + log_most);
    }
    for (std::size_t v = 0; v < classes; ++v) {
      d.f32()[at + v] += static_cast<float>(factor * (p[v] * shares - y[at + v]));
    }
  }
  return factor * sum;
}

}  // namespace clearformer
