// Bindings: positions, patches, and the complexity of layers.

#include "bindings/functions.h"
#include "clearformer/architectures/rotary_config.h"
#include "clearformer/layers/complexity.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/positional_encoding.h"
#include "clearformer/layers/relative_position.h"

namespace clearformer::bindings {

using emscripten::val;

namespace {

std::size_t size_of(const Arguments& arguments, const char* key) { return arguments.count(key); }

std::size_t size_of(const Arguments& arguments, const char* key, std::size_t fallback) {
  return arguments.has(key) ? size_of(arguments, key) : fallback;
}

SinusoidConfig sinusoid_of(const Arguments& arguments) {
  SinusoidConfig config;
  config.d_model = size_of(arguments, "d_model");
  config.base = arguments.optional_number("base").value_or(config.base);
  const std::string layout = arguments.has("layout") ? arguments.text("layout") : "interleaved";
  if (layout == "halves") {
    config.layout = SinusoidLayout::halves;
  } else if (layout == "whisper") {
    config.layout = SinusoidLayout::whisper;
  } else if (layout != "interleaved") {
    fail(ErrorCode::invalid_argument, "sinusoidal: layout \"", layout,
         "\" is none of interleaved, halves, whisper");
  }
  return config;
}

RelativeSpan span_of(const Arguments& arguments) {
  return {size_of(arguments, "queries"), size_of(arguments, "keys"),
          size_of(arguments, "query_offset", 0)};
}

RelativeBuckets buckets_of(const Arguments& arguments) {
  using Direction = RelativeBuckets::Direction;
  return {size_of(arguments, "num_buckets"), size_of(arguments, "max_distance"),
          arguments.flag("bidirectional") ? Direction::bidirectional : Direction::causal};
}

RotaryLayout rotary_layout(const Arguments& arguments) {
  return arguments.flag("interleaved") ? RotaryLayout::interleaved : RotaryLayout::halves;
}

Grid grid_of(const Arguments& arguments, const char* rows, const char* columns) {
  return {size_of(arguments, rows), size_of(arguments, columns)};
}

LayerKind kind_of(const std::string& name) {
  if (name == "self_attention") return LayerKind::self_attention;
  if (name == "recurrent") return LayerKind::recurrent;
  if (name == "convolutional") return LayerKind::convolutional;
  if (name == "dilated_convolutional") return LayerKind::dilated_convolutional;
  if (name == "restricted_self_attention") return LayerKind::restricted_self_attention;
  fail(ErrorCode::invalid_argument, "complexity: \"", name, "\" is no kind of layer");
}

}  // namespace

val sinusoidal_encoding(const Arguments& arguments) {
  return to_value(
      clearformer::sinusoidal_encoding(arguments.integers("positions"), sinusoid_of(arguments)));
}

val shift_matrix(const Arguments& arguments) {
  const double delta = arguments.number("delta");
  if (!(delta >= -2147483648.0 && delta <= 2147483647.0) ||
      delta != static_cast<std::int32_t>(delta)) {
    fail(ErrorCode::invalid_argument, "shift_matrix: delta must be a whole number");
  }
  return to_value(
      clearformer::shift_matrix(static_cast<std::int32_t>(delta), sinusoid_of(arguments)));
}

val distinct_encodings(const Arguments& arguments) {
  return val(clearformer::distinct_encodings(size_of(arguments, "count"), sinusoid_of(arguments)));
}

val learned_encoding(const Arguments& arguments) {
  return to_value(
      clearformer::learned_encoding(arguments.floats("table"), arguments.integers("positions")));
}

val alibi_slopes(const Arguments& arguments) {
  return to_value(clearformer::alibi_slopes(size_of(arguments, "num_heads")));
}

val alibi_bias(const Arguments& arguments) {
  return to_value(clearformer::alibi_bias(size_of(arguments, "num_heads"), span_of(arguments)));
}

val relative_position_bucket(const Arguments& arguments) {
  return to_value(clearformer::relative_position_bucket(arguments.integers("relative_positions"),
                                                        buckets_of(arguments)));
}

val relative_position_bias(const Arguments& arguments) {
  return to_value(clearformer::relative_position_bias(arguments.floats("table"),
                                                      buckets_of(arguments), span_of(arguments)));
}

val rotary(const Arguments& arguments) {
  const Tensor x = arguments.floats("x");
  if (x.shape().rank() != 4) {
    fail(ErrorCode::shape_mismatch, "rotary: x of shape ", x.shape().text(),
         ", expected [batch, heads, positions, head size]");
  }
  const ConfigReader options(arguments.json("options"), "rotary", ErrorCode::invalid_argument);
  RotaryConfig config = read_rotary(options, size_of(arguments, "rotary_dim", x.dim(3)),
                                    options.size("max_position_embeddings", 2048));
  config.d_head = x.dim(3);
  config.layout = rotary_layout(arguments);
  return to_value(RotaryEmbedding(config).forward(x, arguments.integers("positions")));
}

val rotary_embedding(const Arguments& arguments) {
  const Tensor x = arguments.floats("x");
  const Tensor cosines = arguments.floats("cos_cache"), sines = arguments.floats("sin_cache");
  RotaryInputs inputs;
  inputs.x = x;
  inputs.cos_cache = cosines;
  inputs.sin_cache = sines;
  Tensor ids;
  TensorView ids_view;
  if (arguments.has("position_ids")) {
    ids_view = ids = arguments.integers("position_ids");
    inputs.position_ids = &ids_view;
  }
  inputs.layout = rotary_layout(arguments);
  inputs.num_heads = size_of(arguments, "num_heads", 0);
  inputs.rotary_embedding_dim = size_of(arguments, "rotary_embedding_dim", 0);
  return to_value(clearformer::rotary_embedding(inputs));
}

val patch_embedding(const Arguments& arguments) {
  Tensor weight = arguments.floats("weight");
  auto bias = arguments.optional_floats("bias");
  const Shape& shape = weight.shape();
  if (shape.rank() != 4) {
    fail(ErrorCode::shape_mismatch, "patch_embedding: weight of shape ", shape.text(),
         ", expected [features, channels, patch height, patch width]");
  }
  PatchConfig config{shape[1], shape[2], shape[3], shape[0]};
  config.bias = bias ? Bias::present : Bias::none;
  config.remainder = arguments.flag("drop_remainder") ? Remainder::drop : Remainder::refuse;
  Weights weights;
  weights.add("weight", "arguments", std::move(weight));
  if (bias) weights.add("bias", "arguments", std::move(*bias));
  const NameMap names;
  const PatchEmbedding layer(WeightScope(weights, names), config);
  weights.check(Weights::Unexpected::refuse);
  const Tensor images = arguments.floats("images");
  const Grid grid = layer.grid(images.shape());
  Tensor patches({images.dim(0), grid.patches(), config.d_model});
  Arena arena;
  layer.forward(images, patches, arena);
  return to_value(patches);
}

val prepend_tokens(const Arguments& arguments) {
  const Tensor tokens = arguments.floats("tokens"), x = arguments.floats("x");
  if (x.shape().rank() != 3 || tokens.shape().rank() == 0) {
    fail(ErrorCode::shape_mismatch, "prepend_tokens: tokens of shape ", tokens.shape().text(),
         " before x of shape ", x.shape().text(), ", expected [batch, length, features]");
  }
  Tensor output({x.dim(0), tokens.shape().outer(1) + x.dim(1), x.dim(2)});
  clearformer::prepend_tokens(tokens, x, output);
  return to_value(output);
}

val interpolate_positions(const Arguments& arguments) {
  return to_value(clearformer::interpolate_positions(
      arguments.floats("table"), grid_of(arguments, "rows", "columns"),
      grid_of(arguments, "new_rows", "new_columns")));
}

val complexity(const Arguments& arguments) {
  const Complexity cost = clearformer::complexity(
      kind_of(arguments.text("kind")),
      {size_of(arguments, "sequence_length"), size_of(arguments, "d_model"),
       size_of(arguments, "kernel_size", 0), size_of(arguments, "neighbourhood", 0)});
  val result = val::object();
  put(result, "multiply_adds", static_cast<double>(cost.multiply_adds));
  put(result, "projection_multiply_adds", static_cast<double>(cost.projection_multiply_adds));
  put(result, "sequential_operations", static_cast<double>(cost.sequential_operations));
  put(result, "maximum_path_length", static_cast<double>(cost.maximum_path_length));
  put(result, "work", to_value(cost.work));
  put(result, "sequential", to_value(cost.sequential));
  put(result, "path_length", to_value(cost.path_length));
  return result;
}

}  // namespace clearformer::bindings
