// The classes of torch.nn: options and state_dict keys as in PyTorch 2, batch first, inference only
// (dropout is accepted and ignored).

#include <cmath>

#include "clearformer/layers/decoder.h"
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
  std::vector<NameRule> rules = {
      {"q_proj.bias", "in_proj_bias", 0, 3},
      {"k_proj.bias", "in_proj_bias", 1, 3},
      {"v_proj.bias", "in_proj_bias", 2, 3},
      {"attn", "self_attn"},
      {"cross_attn", "multihead_attn"},
      {"o_proj", "out_proj"},
      {"ln1", "norm1"},
      {"ln2", "norm2"},
      {"ln3", "norm3"},
      {"mlp.up_proj", "linear1"},
      {"mlp.down_proj", "linear2"},
      {"blocks", "layers"},
      {"ln_final", "norm"},
  };
  if (has_stacked_projections(options)) {
    rules.push_back({"q_proj.weight", "in_proj_weight", 0, 3});
    rules.push_back({"k_proj.weight", "in_proj_weight", 1, 3});
    rules.push_back({"v_proj.weight", "in_proj_weight", 2, 3});
  } else {
    rules.push_back({"q_proj.weight", "q_proj_weight"});
    rules.push_back({"k_proj.weight", "k_proj_weight"});
    rules.push_back({"v_proj.weight", "v_proj_weight"});
  }
  return NameMap(std::move(rules));
}

Bias bias_of(const ConfigReader& options, std::string_view key = "bias") {
  return options.flag(key, true) ? Bias::present : Bias::none;
}

// Views a (T, D) input as a batch of one; the result has the axes of the input.
struct Batched {
  TensorView view;
  bool lifted;
};
Batched batched(std::string_view what, const TensorView& x) {
  const Shape& shape = x.shape();
  if (shape.rank() == 2) return {x.reshaped({1, shape[0], shape[1]}), true};
  if (shape.rank() != 3) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", shape.text(),
         ", expected [batch, length, features] or [length, features]");
  }
  return {x, false};
}

void expect_features(std::string_view what, const TensorView& x, std::size_t features) {
  if (x.shape().back(0) != features) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", x.shape().text(), " has ",
         x.shape().back(0), " features, the module takes ", features);
  }
}

void unlift(Tensor& x, bool lifted) {
  if (lifted) x.reshape({x.dim(1), x.dim(2)});
}

std::unique_ptr<Module> linear(const ConfigReader& options, const WeightScope& scope) {
  return module_of(
      [layer = Linear(scope, options.size("in_features"), options.size("out_features"),
                      bias_of(options))](const Module::Inputs& inputs, const Context&) {
        const TensorView x = inputs.tensor("input");
        Shape shape = x.shape();
        if (shape.rank() == 0) fail(ErrorCode::shape_mismatch, "nn.Linear: the input is a scalar");
        shape[shape.rank() - 1] = layer.out_features();
        Tensor y(shape);
        layer.forward(x, y);
        return y;
      });
}

std::unique_ptr<Module> embedding(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t columns = options.size("embedding_dim");
  return module_of([columns, layer = Embedding(scope, options.size("num_embeddings"), columns,
                                               Embedding::Table::exact)](
                       const Module::Inputs& inputs, const Context&) {
    const TensorView ids = inputs.tensor("input");
    Shape shape = ids.shape();
    shape.append(columns);
    Tensor y(shape);
    layer.forward(ids, y);
    return y;
  });
}

std::unique_ptr<Module> norm(const ConfigReader& options, const WeightScope& scope,
                             NormConfig config) {
  config.shape = shape_option(options, "normalized_shape");
  config.weight = options.flag("elementwise_affine", true);
  config.bias = config.weight && options.flag("bias", true);
  return module_of([features = config.shape.elements(), layer = Normalization(scope, config)](
                       const Module::Inputs& inputs, const Context& context) {
    const TensorView x = inputs.tensor("input");
    if (x.elements() % features != 0) {
      fail(ErrorCode::shape_mismatch, "norm: input of shape ", x.shape().text(),
           ", the normalized axes have ", features, " elements");
    }
    Tensor y(x.shape());
    const Shape rows{x.elements() / features, features};
    layer.forward(x.reshaped(rows), y.mutable_view().reshaped(rows), context);
    return y;
  });
}

std::unique_ptr<Module> layer_norm(const ConfigReader& options, const WeightScope& scope) {
  const auto eps = static_cast<float>(options.number("eps", 1e-5));
  return norm(options, scope, {NormKind::layer, {}, eps});
}

std::unique_ptr<Module> rms_norm(const ConfigReader& options, const WeightScope& scope) {
  const auto eps = static_cast<float>(options.number("eps", kFloatEpsilon));
  return norm(options, scope, {NormKind::rms, {}, eps});
}

AttentionConfig attention_config(const ConfigReader& options, std::string_view d_model,
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

std::unique_ptr<Module> multihead_attention(const ConfigReader& options, const WeightScope& scope) {
  AttentionConfig config = attention_config(options, "embed_dim", "num_heads");
  config.key_features = options.size("kdim", config.d_model);
  config.value_features = options.size("vdim", config.d_model);
  config.learned_extra_key = options.flag("add_bias_kv", false);
  config.zero_extra_key = options.flag("add_zero_attn", false);
  return module_of([layer = MultiHeadAttention(scope, config)](const Module::Inputs& inputs,
                                                               const Context& context) {
    const Batched query = batched("nn.MultiheadAttention: query", inputs.tensor("query"));
    const Batched key = batched("nn.MultiheadAttention: key", inputs.tensor("key"));
    const Batched value = batched("nn.MultiheadAttention: value", inputs.tensor("value"));
    const Mask mask = inputs.mask("mask");
    Tensor y({query.view.dim(0), query.view.dim(1), layer.config().d_model});
    layer.forward({query.view, key.view, value.view}, {mask}, y, context / "attn");
    unlift(y, query.lifted);
    return y;
  });
}

BlockConfig block_config(const ConfigReader& options) {
  BlockConfig block;
  block.attention = attention_config(options, "d_model", "nhead");
  const std::size_t d_model = block.attention.d_model;
  const std::string name = options.text("activation", "relu");
  const auto activation = activation_named(name);
  if (!activation) options.refuse(ErrorCode::unsupported, "activation", "is \"", name, "\"");
  block.feed_forward = {d_model, options.size("dim_feedforward", 2048), *activation, Gate::none,
                        bias_of(options)};
  block.norm = {NormKind::layer,
                {d_model},
                static_cast<float>(options.number("layer_norm_eps", 1e-5)),
                true,
                options.flag("bias", true)};
  block.order = options.flag("norm_first", false) ? NormOrder::pre : NormOrder::post;
  return block;
}

Tensor copy_of_input(std::string_view what, const TensorView& x, std::size_t features) {
  expect_features(what, x, features);
  return Tensor::copy_of(x);
}

std::unique_ptr<Module> encoder_layer(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = block_config(options);
  return module_of([d_model = config.attention.d_model, layer = EncoderBlock(scope, config)](
                       const Module::Inputs& inputs, const Context& context) {
    const Batched src = batched("nn.TransformerEncoderLayer: src", inputs.tensor("src"));
    Tensor x = copy_of_input("nn.TransformerEncoderLayer: src", src.view, d_model);
    const Mask mask = inputs.mask("mask");
    layer.forward(x, {mask}, context);
    unlift(x, src.lifted);
    return x;
  });
}

std::unique_ptr<Module> decoder_layer(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = block_config(options);
  return module_of([d_model = config.attention.d_model, layer = DecoderBlock(scope, config)](
                       const Module::Inputs& inputs, const Context& context) {
    const Batched tgt = batched("nn.TransformerDecoderLayer: tgt", inputs.tensor("tgt"));
    const Batched memory = batched("nn.TransformerDecoderLayer: memory", inputs.tensor("memory"));
    Tensor x = copy_of_input("nn.TransformerDecoderLayer: tgt", tgt.view, d_model);
    const Mask mask = inputs.mask("tgt_mask"), cross = inputs.mask("memory_mask");
    layer.forward(x, memory.view, {mask}, {cross}, context);
    unlift(x, tgt.lifted);
    return x;
  });
}

StackConfig stack_config(const ConfigReader& options, std::string_view layers, bool norm) {
  return {block_config(options), options.size(layers, 6),
          norm ? FinalNorm::present : FinalNorm::none};
}

std::unique_ptr<Module> encoder(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig config = stack_config(options, "num_layers", options.flag("norm", false));
  const std::size_t d_model = config.block.attention.d_model;
  return module_of([d_model, stack = Encoder(scope, config)](const Module::Inputs& inputs,
                                                             const Context& context) {
    const Batched src = batched("nn.TransformerEncoder: src", inputs.tensor("src"));
    Tensor x = copy_of_input("nn.TransformerEncoder: src", src.view, d_model);
    stack.forward(x, {.mask = inputs.mask("mask")}, context);
    unlift(x, src.lifted);
    return x;
  });
}

StackState decoder_state(const Module::Inputs& inputs) {
  return {.mask = inputs.mask("tgt_mask"), .cross_mask = inputs.mask("memory_mask")};
}

std::unique_ptr<Module> decoder(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig config = stack_config(options, "num_layers", options.flag("norm", false));
  const std::size_t d_model = config.block.attention.d_model;
  return module_of([d_model, stack = Decoder(scope, config)](const Module::Inputs& inputs,
                                                             const Context& context) {
    const Batched tgt = batched("nn.TransformerDecoder: tgt", inputs.tensor("tgt"));
    const Batched memory = batched("nn.TransformerDecoder: memory", inputs.tensor("memory"));
    Tensor x = copy_of_input("nn.TransformerDecoder: tgt", tgt.view, d_model);
    stack.forward(x, memory.view, decoder_state(inputs), context);
    unlift(x, tgt.lifted);
    return x;
  });
}

std::unique_ptr<Module> transformer(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig encoder_config = stack_config(options, "num_encoder_layers", true);
  const StackConfig decoder_config = stack_config(options, "num_decoder_layers", true);
  const std::size_t d_model = encoder_config.block.attention.d_model;
  return module_of([d_model, encoder = Encoder(scope / "encoder", encoder_config),
                    decoder = Decoder(scope / "decoder", decoder_config)](
                       const Module::Inputs& inputs, const Context& context) {
    const Batched src = batched("nn.Transformer: src", inputs.tensor("src"));
    const Batched tgt = batched("nn.Transformer: tgt", inputs.tensor("tgt"));
    Tensor memory = copy_of_input("nn.Transformer: src", src.view, d_model);
    Tensor x = copy_of_input("nn.Transformer: tgt", tgt.view, d_model);
    encoder.forward(memory, {.mask = inputs.mask("src_mask")}, context / "encoder");
    decoder.forward(x, memory, decoder_state(inputs), context / "decoder");
    unlift(x, tgt.lifted);
    return x;
  });
}

#define CLEARFORMER_BLOCK_OPTIONS                                                                 \
  "d_model", "nhead", "dim_feedforward", "dropout", "activation", "layer_norm_eps", "norm_first", \
      "bias"

const Factory kTorchFactories[] = {
    {"nn.Linear", {"in_features", "out_features", "bias"}, linear},
    {"nn.Embedding", {"num_embeddings", "embedding_dim", "padding_idx"}, embedding},
    {"nn.LayerNorm", {"normalized_shape", "eps", "elementwise_affine", "bias"}, layer_norm},
    {"nn.RMSNorm", {"normalized_shape", "eps", "elementwise_affine"}, rms_norm},
    {"nn.MultiheadAttention",
     {"embed_dim", "num_heads", "dropout", "bias", "add_bias_kv", "add_zero_attn", "kdim", "vdim"},
     multihead_attention},
    {"nn.TransformerEncoderLayer", {CLEARFORMER_BLOCK_OPTIONS}, encoder_layer},
    {"nn.TransformerDecoderLayer", {CLEARFORMER_BLOCK_OPTIONS}, decoder_layer},
    {"nn.TransformerEncoder", {CLEARFORMER_BLOCK_OPTIONS, "num_layers", "norm"}, encoder},
    {"nn.TransformerDecoder", {CLEARFORMER_BLOCK_OPTIONS, "num_layers", "norm"}, decoder},
    {"nn.Transformer",
     {CLEARFORMER_BLOCK_OPTIONS, "num_encoder_layers", "num_decoder_layers"},
     transformer},
};

}  // namespace

Library torch_library() {
  return {std::begin(kTorchFactories), std::end(kTorchFactories), torch_names};
}

}  // namespace clearformer::modules
