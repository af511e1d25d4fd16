// The classes of d2l.ai's transformer chapters: same options and state_dict keys, without dropout, which is accepted and
// ignored. Input sizes that d2l infers lazily are taken from the weights.
// A row with nothing to attend to gets uniform weights, as in d2l's masked_softmax.

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/decoder_block.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/positional_encoding.h"
#include "clearformer/modules/d2l_modules.h"

namespace clearformer::modules {

namespace {

NameMap d2l_names(std::string_view kind, const ConfigReader&) {
  NameMap names(R"(
q_proj W_q
k_proj W_k
v_proj W_v
o_proj W_o
additive attention
)");
  names.add(kind == "d2l.TransformerDecoderBlock" ? "attn attention1" : "attn attention");
  if (kind == "d2l.ViTBlock") {
    names.add("mlp.up_proj mlp.dense1\nmlp.down_proj mlp.dense2");
  } else {
    names.add(R"(
cross_attn attention2
ln1 addnorm1.ln
ln2 addnorm2.ln
ln3 addnorm3.ln
mlp.up_proj ffn.dense1
mlp.down_proj ffn.dense2
up_proj dense1
down_proj dense2
)");
  }
  return names;
}

// X + Y, normalized.
struct AddNormModule {
  Shape normalized;
  Normalization norm;

  Shape rows(const Module::Inputs& inputs) const {
    const TensorView x = inputs.tensor("X"), y = inputs.tensor("Y");
    if (!(x.shape() == y.shape())) {
      fail(ErrorCode::shape_mismatch, "d2l.AddNorm: X of shape ", x.shape().text(),
           " and Y of shape ", y.shape().text());
    }
    return normalized_rows("d2l.AddNorm", x, normalized);
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Shape shape = rows(inputs);
    const TensorView x = inputs.tensor("X"), y = inputs.tensor("Y");
    Tensor sum(x.shape());
    kernels::add(x.f32(), y.f32(), sum.f32(), sum.elements());
    norm.forward(sum.view().reshaped(shape), sum.mutable_view().reshaped(shape), context);
    return sum;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    Tensor d = Tensor::copy_of(expect_gradient(d_output, inputs.tensor("X").shape()));
    const MutableTensorView all = d.mutable_view().reshaped(rows(inputs));
    norm.backward(all, all, Write::over, context);
    Tensor of_y = d.clone();
    return gradients_of({{"X", std::move(d)}, {"Y", std::move(of_y)}});
  }
};

std::unique_ptr<Module> add_norm(const ConfigReader& options, const WeightScope& scope) {
  const Shape shape = shape_option(options, "norm_shape");
  return module_of(AddNormModule{shape, Normalization(scope / "ln", {NormKind::layer, shape})});
}

struct FeedForwardModule {
  Linear up, down;

  static Shape with(const TensorView& x, std::size_t features) {
    return with_features("d2l.PositionWiseFFN", x, features);
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView x = inputs.tensor("X");
    Tensor inner(with(x, up.out_features())), y(with(x, down.out_features()));
    up.forward(x, inner);
    context.trace("mlp.hook_pre", inner, kHidden);
    context.trace.keep("pre", inner);
    apply(Activation::relu, inner.f32(), inner.elements());
    context.trace("mlp.hook_post", inner, kHidden);
    context.trace.keep("post", inner);
    down.forward(inner, y);
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView x = inputs.tensor("X");
    const TraceScope& trace = context.trace;
    Tensor inner(with(x, up.out_features())), dx(x.shape());
    down.backward(trace.kept("post"), expect_gradient(d_output, with(x, down.out_features())),
                  inner, Write::over, trace.weights(), context.arena);
    trace.back("mlp.hook_post", inner, kHidden);
    apply_derivative(Activation::relu, trace.kept("pre").f32(), inner.f32(), inner.elements());
    trace.back("mlp.hook_pre", inner, kHidden);
    up.backward(x, inner, dx, Write::over, trace.weights(), context.arena);
    return gradients_of({{"X", std::move(dx)}});
  }

  static constexpr std::string_view kHidden = "batch pos d_mlp";
};

std::unique_ptr<Module> feed_forward(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t hidden = options.size("ffn_num_hiddens");
  const std::size_t outputs = options.size("ffn_num_outputs");
  const std::size_t inputs = columns_of(scope / "up_proj", outputs);
  return module_of(FeedForwardModule{Linear(scope / "up_proj", inputs, hidden, Bias::present),
                                     Linear(scope / "down_proj", hidden, outputs, Bias::present)});
}

struct PatchModule {
  PatchEmbedding layer;

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView images = inputs.tensor("X");
    Tensor patches(shape(images));
    layer.forward(images, patches, context.arena);
    return patches;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView images = inputs.tensor("X");
    Tensor d_images(images.shape());
    layer.backward(images, expect_gradient(d_output, shape(images)), d_images,
                   context.trace.weights(), context.arena);
    return gradients_of({{"X", std::move(d_images)}});
  }
  Shape shape(const TensorView& images) const {
    const Grid grid = layer.grid(images.shape());
    return {images.dim(0), grid.patches(), layer.config().d_model};
  }
};

// "patch_size": one size for both sides, or height and width. Partial patches at the edges are dropped.
std::unique_ptr<Module> patch_embedding(const ConfigReader& options, const WeightScope& scope) {
  const Shape patch = shape_option(options, "patch_size");
  if (patch.rank() > 2) options.refuse_must("patch_size", "be one size, or height and width");
  const auto stored = scope.stored_shape("conv.weight");
  PatchConfig config{3, patch[0], patch.back(0), options.size("num_hiddens")};
  if (stored && stored->rank() == 4) config.channels = (*stored)[1];
  config.remainder = Remainder::drop;
  return module_of(PatchModule{PatchEmbedding(scope / "conv", config)});
}

struct PositionsModule {
  SinusoidConfig config;
  std::size_t longest;

  Tensor forward(const Module::Inputs& inputs, const Context&) const {
    constexpr std::string_view kWhat = "d2l.PositionalEncoding: X";
    Tensor x = Tensor::copy_of(sequence(kWhat, inputs.tensor("X"), config.d_model));
    if (x.dim(1) > longest) {
      fail(ErrorCode::shape_mismatch, kWhat, " has ", x.dim(1), " positions, max_len is ", longest);
    }
    add_encoding(x, sinusoidal_table(0, x.dim(1), config));
    return x;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context&) const {
    return gradients_of(
        {{"X", Tensor::copy_of(expect_gradient(d_output, inputs.tensor("X").shape()))}});
  }
};

std::unique_ptr<Module> positional_encoding(const ConfigReader& options, const WeightScope&) {
  return module_of(PositionsModule{{options.size("num_hiddens")}, options.size("max_len", 1000)});
}

BlockConfig block_config(const ConfigReader& options, std::string_view hidden) {
  BlockConfig block;
  block.attention = d2l_attention(options, "use_bias");
  const std::size_t d_model = block.attention.d_model;
  block.feed_forward = {d_model, options.size(hidden), Activation::relu, Gate::none, Bias::present};
  block.norm = {NormKind::layer, {d_model}};
  block.order = NormOrder::post;
  return block;
}

struct EncoderBlockModule {
  std::size_t d_model;
  EncoderBlock layer;

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    Tensor x = Tensor::copy_of(sequence("X", inputs.tensor("X"), d_model));
    const Mask mask = inputs.mask("mask");
    layer.forward(x, {mask}, context);
    return x;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    Tensor d = Tensor::copy_of(expect_gradient(d_output, inputs.tensor("X").shape()));
    const Mask mask = inputs.mask("mask");
    layer.backward(d, {mask}, context);
    return gradients_of({{"X", std::move(d)}});
  }
};

std::unique_ptr<Module> encoder_block(const BlockConfig& config, const WeightScope& scope) {
  return module_of(EncoderBlockModule{config.attention.d_model, EncoderBlock(scope, config)});
}

std::unique_ptr<Module> text_block(const ConfigReader& options, const WeightScope& scope) {
  return encoder_block(block_config(options, "ffn_num_hiddens"), scope);
}

std::unique_ptr<Module> vit_block(const ConfigReader& options, const WeightScope& scope) {
  BlockConfig config = block_config(options, "mlp_num_hiddens");
  config.order = NormOrder::pre;
  config.feed_forward.activation = Activation::gelu_erf;
  return encoder_block(config, scope);
}

struct DecoderBlockModule {
  std::size_t d_model;
  DecoderBlock layer;

  TensorView input(const Module::Inputs& inputs, const char* name) const {
    return sequence(concat("d2l.TransformerDecoderBlock: ", name), inputs.tensor(name), d_model);
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    Tensor x = Tensor::copy_of(input(inputs, "X"));
    const TensorView memory = input(inputs, "enc_outputs");
    const Mask mask = inputs.mask("mask"), cross = inputs.mask("enc_mask");
    layer.forward(x, memory, {mask}, {cross}, context);
    return x;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    Tensor d = Tensor::copy_of(expect_gradient(d_output, inputs.tensor("X").shape()));
    const TensorView memory = input(inputs, "enc_outputs");
    Tensor d_memory = Tensor::zeros(memory.shape());
    const Mask mask = inputs.mask("mask"), cross = inputs.mask("enc_mask");
    layer.backward(d, memory, d_memory, {mask}, {cross}, context);
    return gradients_of({{"X", std::move(d)}, {"enc_outputs", std::move(d_memory)}});
  }
};

std::unique_ptr<Module> decoder_block(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = block_config(options, "ffn_num_hiddens");
  return module_of(DecoderBlockModule{config.attention.d_model, DecoderBlock(scope, config)});
}

const Factory kD2lFactories[] = {
    {"d2l.AdditiveAttention", "num_hiddens dropout", "queries, keys, values, mask",
     additive_attention},
    {"d2l.MultiHeadAttention", "num_hiddens num_heads dropout bias attention attention_num_hiddens",
     "queries, keys, values, mask", multi_head_attention},
    {"d2l.AddNorm", "norm_shape dropout", "X, Y", add_norm},
    {"d2l.PositionWiseFFN", "ffn_num_hiddens ffn_num_outputs", "X", feed_forward},
    {"d2l.PatchEmbedding", "img_size patch_size num_hiddens", "X", patch_embedding},
    {"d2l.PositionalEncoding", "num_hiddens dropout max_len", "X", positional_encoding},
    {"d2l.TransformerEncoderBlock", "num_hiddens ffn_num_hiddens num_heads dropout use_bias",
     "X, mask", text_block},
    {"d2l.TransformerDecoderBlock", "num_hiddens ffn_num_hiddens num_heads dropout use_bias",
     "X, enc_outputs, mask, enc_mask", decoder_block},
    {"d2l.ViTBlock", "num_hiddens mlp_num_hiddens num_heads dropout use_bias norm_shape", "X, mask",
     vit_block},
};

}  // namespace

Library d2l_library() { return {std::begin(kD2lFactories), std::end(kD2lFactories), d2l_names}; }

}  // namespace clearformer::modules
