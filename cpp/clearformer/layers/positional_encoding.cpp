#include "clearformer/layers/positional_encoding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "clearformer/kernels/elementwise.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

// The columns of each pair of a layout, and its radians per position.
class Sinusoid {
 public:
  explicit Sinusoid(const SinusoidConfig& config) : config_(config) {
    check();
    const double base = config.base;
    const auto d_model = static_cast<double>(config.d_model);
    const bool whisper = config.layout == SinusoidLayout::whisper;
    const std::size_t pairs = config.d_model / 2;
    frequencies_.reserve(room_for(sines()));
    for (std::size_t pair = 0; pair < sines(); ++pair) {
      const auto j = static_cast<double>(pair);
      const double exponent = whisper ? j / (static_cast<double>(pairs) - 1.0) : 2.0 * j / d_model;
      frequencies_.push_back(portable_pow(base, -exponent));
    }
  }

  std::size_t sines() const {
    const bool whole_pairs = config_.layout == SinusoidLayout::whisper;
    return whole_pairs ? cosines() : (config_.d_model + 1) / 2;
  }
  std::size_t cosines() const { return config_.d_model / 2; }
  std::size_t sine_column(std::size_t pair) const { return interleaved() ? 2 * pair : pair; }
  std::size_t cosine_column(std::size_t pair) const {
    return interleaved() ? 2 * pair + 1 : sines() + pair;
  }
  double frequency(std::size_t pair) const { return frequencies_[pair]; }

  void write(double position, float* row) const {
    for (std::size_t pair = 0; pair < sines(); ++pair) {
      const auto [sine, cosine] = portable_sine_cosine(position * frequencies_[pair]);
      row[sine_column(pair)] = static_cast<float>(sine);
      if (pair < cosines()) row[cosine_column(pair)] = static_cast<float>(cosine);
    }
    if (sines() + cosines() < config_.d_model) row[config_.d_model - 1] = 0.0f;
  }

 private:
  bool interleaved() const { return config_.layout == SinusoidLayout::interleaved; }

  void check() const {
    if (config_.d_model == 0) {
      fail(ErrorCode::invalid_argument, "positional encoding: the dimension must be at least 1");
    }
    if (!(config_.base > 0.0) || std::isinf(config_.base)) {
      fail(ErrorCode::invalid_argument,
           "positional encoding: the base must be finite and > 0, it is ", config_.base);
    }
    const bool whisper = config_.layout == SinusoidLayout::whisper;
    if (whisper && config_.d_model < 4) {
      fail(ErrorCode::invalid_argument,
           "positional encoding: the whisper layout needs a dimension of 4 or more, it is ",
           config_.d_model);
    }
  }

  SinusoidConfig config_;
  std::vector<double> frequencies_;
};

// The shape of `columns` numbers per position.
Shape rows_of(const Shape& positions, std::size_t columns) {
  Shape shape = positions;
  shape.append(columns);
  return shape;
}

}  // namespace

Tensor sinusoidal_encoding(const TensorView& positions, const SinusoidConfig& config) {
  Tensor encoding(rows_of(positions.shape(), config.d_model));  // (…, D)
  const Sinusoid sinusoid(config);
  const std::int32_t* position = positions.as<std::int32_t>();
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    sinusoid.write(position[row], encoding.f32() + row * config.d_model);
  }
  return encoding;
}

Tensor sinusoidal_table(std::int32_t first, std::size_t count, const SinusoidConfig& config) {
  Tensor table({count, config.d_model});
  const Sinusoid sinusoid(config);
  for (std::size_t row = 0; row < count; ++row) {
    sinusoid.write(static_cast<double>(first) + static_cast<double>(row),
                   table.f32() + row * config.d_model);
  }
  return table;
}

Tensor shift_matrix(std::int32_t delta, const SinusoidConfig& config) {
  const std::size_t d_model = config.d_model;
  Tensor matrix = Tensor::zeros({d_model, d_model});
  const Sinusoid sinusoid(config);
  if (d_model % 2 != 0) {
    fail(ErrorCode::invalid_argument,
         "shift_matrix: the dimension must be even, so that every sine has its cosine; it is ",
         d_model);
  }
  for (std::size_t pair = 0; pair < sinusoid.cosines(); ++pair) {
    const SineCosine turn =
        portable_sine_cosine(static_cast<double>(delta) * sinusoid.frequency(pair));
    const auto cosine = static_cast<float>(turn.cosine);
    const auto sine = static_cast<float>(turn.sine);
    const std::size_t s = sinusoid.sine_column(pair), c = sinusoid.cosine_column(pair);
    float* const sine_row = matrix.f32() + s * d_model;
    float* const cosine_row = matrix.f32() + c * d_model;
    sine_row[s] = cosine;
    sine_row[c] = sine;
    cosine_row[s] = -sine;
    cosine_row[c] = cosine;
  }
  return matrix;
}

std::size_t distinct_encodings(std::size_t count, const SinusoidConfig& config) {
  const Tensor table = sinusoidal_table(0, count, config);
  const std::size_t d_model = config.d_model;
  const auto before = [d_model](const float* a, const float* b) {
    return std::lexicographical_compare(a, a + d_model, b, b + d_model);
  };
  std::set<const float*, decltype(before)> rows(before);
  for (std::size_t row = 0; row < count; ++row) rows.insert(table.f32() + row * d_model);
  return rows.size();
}

Tensor learned_encoding(const TensorView& table, const TensorView& positions) {
  if (table.shape().rank() != 2) {
    fail(ErrorCode::shape_mismatch, "positional encoding: table of shape ", table.shape().text(),
         ", expected [positions, d_model]");
  }
  const std::int32_t* position = positions.as<std::int32_t>();
  const float* const first = table.f32();
  const std::size_t rows = table.dim(0), columns = table.dim(1);
  Tensor encoding(rows_of(positions.shape(), columns));  // (…, D)
  float* to = encoding.f32();
  for (std::size_t i = 0; i < positions.elements(); ++i, to += columns) {
    if (position[i] < 0 || static_cast<std::size_t>(position[i]) >= rows) {
      fail(ErrorCode::invalid_argument, "positional encoding: position ", position[i],
           " is outside the table of ", rows, " rows");
    }
    std::memcpy(to, first + static_cast<std::size_t>(position[i]) * columns,
                columns * sizeof(float));
  }
  return encoding;
}

void add_encoding(const MutableTensorView& x, const TensorView& encoding) {
  const Shape &shape = x.shape(), &added = encoding.shape();
  const bool one_for_all = added.rank() == 2 || (added.rank() == 3 && added[0] == 1);
  const bool fits = shape.rank() == 3 && (added.rank() == 2 || added.rank() == 3) &&
                    added.back(0) == shape[2] && added.back(1) == shape[1] &&
                    (one_for_all || added[0] == shape[0]);
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "positional encoding: encoding of shape ", added.text(),
         " does not fit x of shape ", shape.text(), " (batch, positions, d_model)");
  }
  const std::size_t sequence = shape[1] * shape[2];
  for (std::size_t batch = 0; batch < shape[0]; ++batch) {
    float* const to = x.f32() + batch * sequence;
    kernels::add(to, encoding.f32() + (one_for_all ? 0 : batch * sequence), to, sequence);
  }
}

}  // namespace clearformer
