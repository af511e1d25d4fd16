// The classes of torch.nn: options and state_dict keys as in PyTorch 2, batch first, inference only
// (dropout is accepted and ignored).

#include <algorithm>
#include <optional>

#include "clearformer/layers/embedding.h"
#include "clearformer/modules/factories.h"

namespace clearformer::modules {

namespace {

constexpr float kFloatEpsilon = 1.1920928955078125e-7f;  // torch.finfo(torch.float32).eps

// nn.MultiheadAttention stacks its projections unless keys or values have another size than queries.
bool has_stacked_projections(const ConfigReader& options) {
  const std::size_t d_model = options.size("embed_dim", 1);
  return options.size("kdim", d_model) == d_model && options.size("vdim", d_model) == d_model;
}

NameMap torch_names(std::string_view, const ConfigReader& options) {
  NameMap names(R"(
q_proj.bias in_proj_bias 0/3
k_proj.bias in_proj_bias 1/3
v_proj.bias in_proj_bias 2/3
attn self_attn
cross_attn multihead_attn
o_proj out_proj
ln1 norm1
ln2 norm2
ln3 norm3
mlp.up_proj linear1
mlp.down_proj linear2
blocks layers
ln_final norm
)");
  names.add(has_stacked_projections(options) ? R"(
q_proj.weight in_proj_weight 0/3
k_proj.weight in_proj_weight 1/3
v_proj.weight in_proj_weight 2/3
)"
                                             : R"(
q_proj.weight q_proj_weight
k_proj.weight k_proj_weight
v_proj.weight v_proj_weight
)");
  return names;
}

// y = act(x·Wᵀ + b)
struct LinearModule {
  std::string_view kind;
  Activation activation;
  Linear layer;

  Shape shape(const TensorView& x) const { return with_features(kind, x, layer.out_features()); }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor y(shape(x));
    layer.forward(x, y);
    context.trace.keep("pre", y);
    apply(activation, y.f32(), y.elements());
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor d = Tensor::copy_of(expect_gradient(d_output, shape(x))), dx(x.shape());
    apply_derivative(activation, context.trace.kept("pre").f32(), d.f32(), d.elements());
    layer.backward(x, d, dx, Write::over, context.trace.weights(), context.arena);
    return gradients_of({{"input", std::move(dx)}});
  }
};

std::unique_ptr<Module> linear(const ConfigReader& options, const WeightScope& scope) {
  return linear_module("nn.Linear", Activation::linear, options, scope);
}

// Rows of a table; that of padding_idx has no gradient.
struct EmbeddingModule {
  std::size_t columns;
  std::optional<std::int32_t> padding;
  Embedding layer;

  Shape shape(const TensorView& ids) const {
    Shape shape = ids.shape();
    shape.append(columns);
    return shape;
  }
  Tensor forward(const Module::Inputs& inputs, const Context&) const {
    const TensorView ids = inputs.tensor("input");
    Tensor y(shape(ids));
    layer.forward(ids, y);
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView ids = inputs.tensor("input");
    layer.backward(ids, expect_gradient(d_output, shape(ids)), context.trace.weights(), padding);
    return {};
  }
};

std::unique_ptr<Module> embedding(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t rows = options.size("num_embeddings"), columns = options.size("embedding_dim");
  const auto padding = options.row("padding_idx", rows);
  if (!padding && options.is_set("padding_idx")) {
    options.refuse_must("padding_idx", "be one of the ", rows, " rows");
  }
  return module_of(
      EmbeddingModule{columns, padding, Embedding(scope, rows, columns, Embedding::Table::exact)});
}

struct NormModule {
  NormConfig config;
  Normalization layer;

  Shape rows(const TensorView& x) const {
    const bool centred = config.kind == NormKind::layer;
    return normalized_rows(centred ? "nn.LayerNorm" : "nn.RMSNorm", x, config.shape);
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor y(x.shape());
    layer.forward(x.reshaped(rows(x)), y.mutable_view().reshaped(rows(x)), context);
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView x = inputs.tensor("input");
    Tensor dx = Tensor::copy_of(expect_gradient(d_output, x.shape()));
    const MutableTensorView d = dx.mutable_view().reshaped(rows(x));
    layer.backward(d, d, Write::over, context);
    return gradients_of({{"input", std::move(dx)}});
  }
};

std::unique_ptr<Module> norm(const NormConfig& config, const WeightScope& scope) {
  return module_of(NormModule{config, Normalization(scope, config)});
}

std::unique_ptr<Module> layer_norm(const ConfigReader& options, const WeightScope& scope) {
  return norm(torch_norm(options, NormKind::layer), scope);
}

std::unique_ptr<Module> rms_norm(const ConfigReader& options, const WeightScope& scope) {
  return norm(torch_norm(options, NormKind::rms), scope);
}

struct AttentionModule {
  MultiHeadAttention layer;

  struct Call {
    Batched query, key, value;
    Mask mask;
    explicit Call(const Module::Inputs& inputs)
        : query("nn.MultiheadAttention: query", inputs.tensor("query")),
          key("nn.MultiheadAttention: key", inputs.tensor("key")),
          value("nn.MultiheadAttention: value", inputs.tensor("value")),
          mask(inputs.mask("mask")) {}
  };
  Shape shape(const Call& call) const {
    return {call.query.view.dim(0), call.query.view.dim(1), layer.config().d_model};
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Call call(inputs);
    Tensor y(shape(call));
    layer.forward({call.query.view, call.key.view, call.value.view}, {call.mask}, y,
                  context / "attn");
    return call.query.unlifted(std::move(y));
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const Call call(inputs);
    Tensor query(call.query.view.shape()), key = Tensor::zeros(call.key.view.shape());
    Tensor value = Tensor::zeros(call.value.view.shape());
    layer.backward({call.query.view, call.key.view, call.value.view}, {call.mask},
                   expect_gradient(d_output, shape(call)), {query, key, value}, Write::over,
                   context / "attn");
    return gradients_of({{"query", call.query.unlifted(std::move(query))},
                         {"key", call.key.unlifted(std::move(key))},
                         {"value", call.value.unlifted(std::move(value))}});
  }
};

std::unique_ptr<Module> multihead_attention(const ConfigReader& options, const WeightScope& scope) {
  AttentionConfig config = torch_attention(options, "embed_dim", "num_heads");
  config.key_features = options.size("kdim", config.d_model);
  config.value_features = options.size("vdim", config.d_model);
  config.learned_extra_key = options.flag("add_bias_kv", false);
  config.zero_extra_key = options.flag("add_zero_attn", false);
  return module_of(AttentionModule{MultiHeadAttention(scope, config)});
}

#define CLEARFORMER_BLOCK_OPTIONS \
  "d_model nhead dim_feedforward dropout activation layer_norm_eps norm_first bias"

const Factory kTorchFactories[] = {
    {"nn.Linear", "in_features out_features bias", "input", linear},
    {"nn.Embedding", "num_embeddings embedding_dim padding_idx", "input", embedding},
    {"nn.LayerNorm", "normalized_shape eps elementwise_affine bias", "input", layer_norm},
    {"nn.RMSNorm", "normalized_shape eps elementwise_affine", "input", rms_norm},
    {"nn.MultiheadAttention",
     "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim",
     "query, key, value, mask", multihead_attention},
    {"nn.TransformerEncoderLayer", CLEARFORMER_BLOCK_OPTIONS, "src, mask", encoder_layer},
    {"nn.TransformerDecoderLayer", CLEARFORMER_BLOCK_OPTIONS, "tgt, memory, tgt_mask, memory_mask",
     decoder_layer},
    {"nn.TransformerEncoder", CLEARFORMER_BLOCK_OPTIONS " num_layers norm", "src, mask", encoder},
    {"nn.TransformerDecoder", CLEARFORMER_BLOCK_OPTIONS " num_layers norm",
     "tgt, memory, tgt_mask, memory_mask", decoder},
    {"nn.Transformer", CLEARFORMER_BLOCK_OPTIONS " num_encoder_layers num_decoder_layers",
     "src, tgt, src_mask, tgt_mask, memory_mask", transformer},
};

}  // namespace

NormConfig torch_norm(const ConfigReader& options, NormKind kind) {
  NormConfig config{kind, shape_option(options, "normalized_shape")};
  config.eps = options.number("eps", kind == NormKind::rms ? kFloatEpsilon : 1e-5);
  config.weight = options.flag("elementwise_affine", true);
  config.bias = config.weight && options.flag("bias", true);
  return config;
}

std::unique_ptr<Module> linear_module(std::string_view kind, Activation activation,
                                      const ConfigReader& options, const WeightScope& scope) {
  return module_of(LinearModule{
      kind, activation,
      Linear(scope, options.size("in_features"), options.size("out_features"), bias_of(options))});
}

Bias bias_of(const ConfigReader& options, std::string_view key) {
  return options.flag(key, true) ? Bias::present : Bias::none;
}

AttentionConfig torch_attention(const ConfigReader& options, std::string_view d_model,
                                std::string_view heads) {
  AttentionConfig config;
  config.d_model = options.size(d_model);
  config.num_heads = options.size(heads);
  if (config.d_model % config.num_heads != 0) {
    options.refuse_value(heads, "is ", config.num_heads, " and does not divide ", d_model, " ",
                         config.d_model);
  }
  config.d_head = config.d_model / config.num_heads;
  config.bias = bias_of(options);
  return config;
}

Batched::Batched(std::string_view what, const TensorView& x)
    : view(x), lifted(x.shape().rank() == 2) {
  const Shape& shape = x.shape();
  if (lifted) view = x.reshaped({1, shape[0], shape[1]});
  if (view.shape().rank() != 3) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", shape.text(),
         ", expected [batch, length, features] or [length, features]");
  }
}

Library torch_library() {
  return {std::begin(kTorchFactories), std::end(kTorchFactories), torch_names};
}

}  // namespace clearformer::modules
