#include "clearformer/layers/rotary_embedding.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/kernels/rotary.h"
#include "clearformer/tensor/portable_math.h"

namespace clearformer {

namespace {

std::size_t length_of(const TensorView& positions) {
  const std::int32_t* position = positions.as<std::int32_t>();
  const std::size_t count = positions.elements();
  const std::int32_t last = count == 0 ? -1 : *std::max_element(position, position + count);
  return last < 0 ? 0 : static_cast<std::size_t>(last) + 1;
}

void check(const MutableHeads& x, const RotaryTable& table) {
  const Shape &cosines = table.cosines.shape(), &sines = table.sines.shape();
  const bool fits = cosines.rank() == 3 && cosines == sines &&
                    (cosines[0] == x.batch || cosines[0] == 1) && cosines[1] == x.length &&
                    2 * cosines[2] <= x.width;
  if (!fits) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: cosines of shape ", cosines.text(),
         " and sines of shape ", sines.text(), " do not fit ", x.batch, " sequences of ", x.length,
         " positions with heads of size ", x.width);
  }
}

// Views x as heads, for either rank.
MutableHeads heads_of(Tensor& x, std::size_t num_heads) {
  const Shape& shape = x.shape();
  if (shape.rank() == 4) return heads_first(x.f32(), shape);
  if (shape.rank() != 3 || num_heads == 0 || shape[2] % num_heads != 0) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: x of shape ", shape.text(),
         ", expected [batch, heads, positions, d_head], or [batch, positions, ", num_heads,
         " heads * d_head] with num_heads");
  }
  return positions_first(x.f32(), Shape{shape[0], shape[1], num_heads, shape[2] / num_heads});
}

// cache (N, r/2) at position_ids (B, T) -> (B, T, r/2)
Tensor gathered(const TensorView& cache, const TensorView& position_ids, const char* name) {
  if (cache.shape().rank() != 2 || position_ids.shape().rank() != 2) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: ", name, " of shape ", cache.shape().text(),
         " and position_ids of shape ", position_ids.shape().text(),
         ", expected [positions, r/2] and [batch, positions]");
  }
  const std::int32_t* position = position_ids.as<std::int32_t>();
  const float* const rows = cache.f32();
  const std::size_t count = cache.dim(0), pairs = cache.dim(1);
  Tensor result({position_ids.dim(0), position_ids.dim(1), pairs});
  for (std::size_t i = 0; i < position_ids.elements(); ++i) {
    if (position[i] < 0 || static_cast<std::size_t>(position[i]) >= count) {
      fail(ErrorCode::invalid_argument, "rotary embedding: position ", position[i], " at ",
           position_ids.shape().index_of(i).text(), " is outside the ", count, " rows of ", name);
    }
    std::memcpy(result.f32() + i * pairs, rows + static_cast<std::size_t>(position[i]) * pairs,
                pairs * sizeof(float));
  }
  return result;
}

}  // namespace

RotaryEmbedding::RotaryEmbedding(RotaryConfig config)
    : config_(std::move(config)), frequencies_(rotary_frequencies(config_, 0)) {}

RotaryTable RotaryEmbedding::table(const TensorView& positions, Arena& arena) const {
  if (positions.shape().rank() != 2) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: positions of shape ",
         positions.shape().text(), ", expected [batch, positions]");
  }
  const std::int32_t* position = positions.as<std::int32_t>();
  RotaryFrequencies stretched;
  const bool stretch = depends_on_length(config_.scaling);
  if (stretch) stretched = rotary_frequencies(config_, length_of(positions));
  const RotaryFrequencies& frequencies = stretch ? stretched : frequencies_;
  const std::size_t pairs = frequencies.radians.size();
  const Shape shape{positions.dim(0), positions.dim(1), pairs};
  const MutableTensorView cosines = arena.take(shape), sines = arena.take(shape);
  float *cosine = cosines.f32(), *sine = sines.f32();
  const double factor = frequencies.attention_factor;
  const double of_sines = config_.backwards ? -factor : factor;
  for (std::size_t row = 0; row < positions.elements(); ++row) {
    for (const double radians : frequencies.radians) {
      const SineCosine turn = portable_sine_cosine(static_cast<double>(position[row]) * radians);
      *cosine++ = static_cast<float>(turn.cosine * factor);
      *sine++ = static_cast<float>(turn.sine * of_sines);
    }
  }
  return {cosines, sines, config_.layout};
}

Tensor RotaryEmbedding::forward(const TensorView& x, TensorView positions) const {
  if (positions.shape().rank() == 1) positions = positions.reshaped({1, positions.dim(0)});
  Arena arena;
  const RotaryTable turned_by = table(positions, arena);
  Tensor turned = Tensor::copy_of(x);
  if (turned.shape().rank() != 4) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: x of shape ", turned.shape().text(),
         ", expected [batch, heads, positions, d_head]");
  }
  rotate(heads_first(turned.f32(), turned.shape()), turned_by);
  return turned;
}

void RotaryEmbedding::rotate(const MutableHeads& x, const RotaryTable& table) {
  check(x, table);
  const auto& turn =
      table.layout == RotaryLayout::halves ? kernels::rotate_halves : kernels::rotate_interleaved;
  const float *cosines = table.cosines.f32(), *sines = table.sines.f32();
  const std::size_t pairs = table.cosines.dim(2);
  for (std::size_t batch = 0; batch < x.batch; ++batch) {
    const std::size_t first = table.cosines.dim(0) == 1 ? 0 : batch * x.length;
    for (std::size_t position = 0; position < x.length; ++position) {
      const std::size_t row = (first + position) * pairs;
      for (std::size_t head = 0; head < x.heads; ++head) {
        turn(x.row(batch, position, head), cosines + row, sines + row, pairs);
      }
    }
  }
}

Tensor rotary_embedding(const RotaryInputs& inputs) {
  Tensor turned = Tensor::copy_of(inputs.x);
  const MutableHeads heads = heads_of(turned, inputs.num_heads);
  RotaryTable table{inputs.cos_cache, inputs.sin_cache, inputs.layout};
  Tensor cosines, sines;
  if (inputs.position_ids != nullptr) {
    cosines = gathered(inputs.cos_cache, *inputs.position_ids, "cos_cache");
    sines = gathered(inputs.sin_cache, *inputs.position_ids, "sin_cache");
    table.cosines = cosines;
    table.sines = sines;
  }
  const std::size_t rotary_dim =
      inputs.rotary_embedding_dim == 0 ? heads.width : inputs.rotary_embedding_dim;
  const Shape& shape = table.cosines.shape();
  if (shape.rank() == 0 || 2 * shape.back(0) != rotary_dim) {
    fail(ErrorCode::shape_mismatch, "rotary embedding: cos_cache of shape ",
         inputs.cos_cache.shape().text(), " has no row of half the ", rotary_dim,
         " rotated dimensions");
  }
  RotaryEmbedding::rotate(heads, table);
  return turned;
}

void RotaryEmbedding::rotate_back(const MutableTensorView& x, const RotaryTable& table) {
  Tensor sines = Tensor::copy_of(table.sines);
  for (std::size_t i = 0; i < sines.elements(); ++i) sines.f32()[i] = -sines.f32()[i];
  rotate(x, {table.cosines, sines, table.layout});
}

}  // namespace clearformer
