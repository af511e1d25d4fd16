// The classes of d2l.ai's transformer chapters: same options and state_dict keys, inference only
// (dropout is accepted and ignored). Input sizes that d2l infers lazily are taken from the weights.
// A row with nothing to attend to gets uniform weights, as in d2l's masked_softmax.

#include "clearformer/kernels/elementwise.h"
#include "clearformer/layers/additive_attention.h"
#include "clearformer/layers/attention.h"
#include "clearformer/layers/decoder_block.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/positional_encoding.h"
#include "clearformer/modules/factories.h"

namespace clearformer::modules {

namespace {

NameMap d2l_names(std::string_view kind, const ConfigReader&) {
  std::vector<NameRule> rules = {
      {"q_proj", "W_q"}, {"k_proj", "W_k"},         {"v_proj", "W_v"},
      {"o_proj", "W_o"}, {"additive", "attention"},
  };
  if (kind == "d2l.ViTBlock") {
    rules.insert(
        rules.end(),
        {{"attn", "attention"}, {"mlp.up_proj", "mlp.dense1"}, {"mlp.down_proj", "mlp.dense2"}});
  } else {
    const bool decoder = kind == "d2l.TransformerDecoderBlock";
    rules.insert(rules.end(), {{"attn", decoder ? "attention1" : "attention"},
                               {"cross_attn", "attention2"},
                               {"ln1", "addnorm1.ln"},
                               {"ln2", "addnorm2.ln"},
                               {"ln3", "addnorm3.ln"},
                               {"mlp.up_proj", "ffn.dense1"},
                               {"mlp.down_proj", "ffn.dense2"},
                               {"up_proj", "dense1"},
                               {"down_proj", "dense2"}});
  }
  return NameMap(std::move(rules));
}

// Columns of a weight in the checkpoint; `fallback` if it is missing, which loading reports.
std::size_t columns_of(const WeightScope& scope, std::size_t fallback) {
  const auto shape = scope.stored_shape("weight");
  return shape && shape->rank() == 2 ? shape->back(0) : fallback;
}

// A (B, T, D) input; with `features` 0 any D is accepted.
TensorView sequence(std::string_view what, const TensorView& x, std::size_t features) {
  if (x.shape().rank() != 3 || (features != 0 && x.dim(2) != features)) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", x.shape().text(),
         ", expected [batch, length, ", features == 0 ? "features" : std::to_string(features), "]");
  }
  return x;
}

void check_pairs(std::string_view what, const TensorView& queries, const TensorView& keys,
                 const TensorView& values) {
  if (queries.dim(0) == keys.dim(0) && keys.dim(0) == values.dim(0) &&
      keys.dim(1) == values.dim(1)) {
    return;
  }
  fail(ErrorCode::shape_mismatch, what, "queries of shape ", queries.shape().text(), ", keys ",
       keys.shape().text(), " and values ", values.shape().text(),
       " must have one batch, and as many keys as values");
}

std::unique_ptr<Module> additive_attention(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t hidden = options.size("num_hiddens");
  const std::size_t query_size = columns_of(scope / "W_q", hidden);
  const std::size_t key_size = columns_of(scope / "W_k", hidden);
  return module_of([score = AdditiveScore(scope, query_size, key_size, hidden)](
                       const Module::Inputs& inputs, const Context& context) {
    constexpr std::string_view kName = "d2l.AdditiveAttention: ";
    const TensorView queries =
        sequence(concat(kName, "queries"), inputs.tensor("queries"), score.query_size());
    const TensorView keys =
        sequence(concat(kName, "keys"), inputs.tensor("keys"), score.key_size());
    const TensorView values = sequence(concat(kName, "values"), inputs.tensor("values"), 0);
    check_pairs(kName, queries, keys, values);
    Arena::Frame frame(context.arena);
    const auto of_one_head = [](const TensorView& x) {
      return x.reshaped({x.dim(0), x.dim(1), 1, x.dim(2)});
    };
    const std::size_t batch = queries.dim(0), length = queries.dim(1);
    const MutableTensorView query = context.arena.take({batch, length, 1, score.hidden()});
    const MutableTensorView key = context.arena.take({batch, keys.dim(1), 1, score.hidden()});
    score.project_queries(of_one_head(queries), query);
    score.project_keys(of_one_head(keys), key);
    Tensor output({batch, length, 1, values.dim(2)});
    AttentionOptions core;
    core.score = {kernels::additive_scores, score.weights()};
    core.empty_row = EmptyRow::uniform;
    core.headless = true;
    const PackedKeyValues packed = packed_in(context.arena, positions_first(TensorView(key)),
                                             positions_first(of_one_head(values)));
    attention(positions_first(TensorView(query)), packed, inputs.mask("mask").without_heads(), core,
              positions_first_mutable(output), context);
    output.reshape({batch, length, values.dim(2)});
    return output;
  });
}

AttentionConfig attention_config(const ConfigReader& options, std::string_view bias) {
  AttentionConfig config;
  config.d_model = options.size("num_hiddens");
  config.num_heads = options.size("num_heads");
  if (config.d_model % config.num_heads != 0) {
    options.refuse_value("num_heads", "is ", config.num_heads, " and does not divide num_hiddens ",
                         config.d_model);
  }
  config.d_head = config.d_model / config.num_heads;
  config.bias = options.flag(bias, false) ? Bias::present : Bias::none;
  config.empty_row = EmptyRow::uniform;
  return config;
}

std::unique_ptr<Module> multi_head_attention(const ConfigReader& options,
                                             const WeightScope& scope) {
  AttentionConfig config = attention_config(options, "bias");
  config.query_features = columns_of(scope / "q_proj", config.d_model);
  config.key_features = columns_of(scope / "k_proj", config.d_model);
  config.value_features = columns_of(scope / "v_proj", config.d_model);
  const std::string score = options.text("attention", "dot");
  if (score == "additive") {
    config.additive_hidden = options.size("attention_num_hiddens", config.d_head);
  } else if (score != "dot") {
    options.refuse(ErrorCode::unsupported, "attention", "is \"", score,
                   "\"; supported: dot, additive");
  }
  return module_of([layer = MultiHeadAttention(scope, config)](const Module::Inputs& inputs,
                                                               const Context& context) {
    const TensorView queries =
        sequence("d2l.MultiHeadAttention: queries", inputs.tensor("queries"), 0);
    Tensor y({queries.dim(0), queries.dim(1), layer.config().d_model});
    const Mask mask = inputs.mask("mask");
    layer.forward({queries, inputs.tensor("keys"), inputs.tensor("values")}, {mask}, y,
                  context / "attn");
    return y;
  });
}

std::unique_ptr<Module> add_norm(const ConfigReader& options, const WeightScope& scope) {
  const Shape shape = shape_option(options, "norm_shape");
  return module_of(
      [features = shape.elements(), norm = Normalization(scope / "ln", {NormKind::layer, shape})](
          const Module::Inputs& inputs, const Context& context) {
        const TensorView x = inputs.tensor("X"), y = inputs.tensor("Y");
        if (!(x.shape() == y.shape()) || x.elements() % features != 0) {
          fail(ErrorCode::shape_mismatch, "d2l.AddNorm: X of shape ", x.shape().text(),
               " and Y of shape ", y.shape().text(), " with ", features, " normalized elements");
        }
        Tensor sum(x.shape());
        kernels::add(x.f32(), y.f32(), sum.f32(), sum.elements());
        const Shape rows{sum.elements() / features, features};
        norm.forward(sum.view().reshaped(rows), sum.mutable_view().reshaped(rows), context);
        return sum;
      });
}

std::unique_ptr<Module> feed_forward(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t hidden = options.size("ffn_num_hiddens");
  const std::size_t outputs = options.size("ffn_num_outputs");
  const std::size_t inputs_size = columns_of(scope / "up_proj", outputs);
  return module_of([outputs, up = Linear(scope / "up_proj", inputs_size, hidden, Bias::present),
                    down = Linear(scope / "down_proj", hidden, outputs, Bias::present)](
                       const Module::Inputs& inputs, const Context& context) {
    const TensorView x = inputs.tensor("X");
    if (x.shape().rank() == 0)
      fail(ErrorCode::shape_mismatch, "d2l.PositionWiseFFN: X is a scalar");
    Shape hidden_shape = x.shape(), shape = x.shape();
    hidden_shape[x.shape().rank() - 1] = up.out_features();
    shape[x.shape().rank() - 1] = outputs;
    Tensor inner(hidden_shape), y(shape);
    up.forward(x, inner);
    context.trace("mlp.hook_pre", inner, "batch pos d_mlp");
    apply(Activation::relu, inner.f32(), inner.elements());
    context.trace("mlp.hook_post", inner, "batch pos d_mlp");
    down.forward(inner, y);
    return y;
  });
}

// "patch_size": one size for both sides, or height and width. Partial patches at the edges are dropped.
std::unique_ptr<Module> patch_embedding(const ConfigReader& options, const WeightScope& scope) {
  const Shape patch = shape_option(options, "patch_size");
  if (patch.rank() > 2) options.refuse_must("patch_size", "be one size, or height and width");
  const auto stored = scope.stored_shape("conv.weight");
  PatchConfig config{3, patch[0], patch.back(0), options.size("num_hiddens")};
  if (stored && stored->rank() == 4) config.channels = (*stored)[1];
  config.remainder = Remainder::drop;
  return module_of([layer = PatchEmbedding(scope / "conv", config)](const Module::Inputs& inputs,
                                                                    const Context& context) {
    const TensorView images = inputs.tensor("X");
    const Grid grid = layer.grid(images.shape());
    Tensor patches({images.dim(0), grid.patches(), layer.config().d_model});
    layer.forward(images, patches, context.arena);
    return patches;
  });
}

std::unique_ptr<Module> positional_encoding(const ConfigReader& options, const WeightScope&) {
  const SinusoidConfig config{options.size("num_hiddens")};
  return module_of([config, longest = options.size("max_len", 1000)](const Module::Inputs& inputs,
                                                                     const Context&) {
    constexpr std::string_view kWhat = "d2l.PositionalEncoding: X";
    Tensor x = Tensor::copy_of(sequence(kWhat, inputs.tensor("X"), config.d_model));
    if (x.dim(1) > longest) {
      fail(ErrorCode::shape_mismatch, kWhat, " has ", x.dim(1), " positions, max_len is ", longest);
    }
    add_encoding(x, sinusoidal_table(0, x.dim(1), config));
    return x;
  });
}

BlockConfig block_config(const ConfigReader& options, std::string_view hidden) {
  BlockConfig block;
  block.attention = attention_config(options, "use_bias");
  const std::size_t d_model = block.attention.d_model;
  block.feed_forward = {d_model, options.size(hidden), Activation::relu, Gate::none, Bias::present};
  block.norm = {NormKind::layer, {d_model}};
  block.order = NormOrder::post;
  return block;
}

std::unique_ptr<Module> block(const BlockConfig& config, const WeightScope& scope) {
  return module_of([d_model = config.attention.d_model, layer = EncoderBlock(scope, config)](
                       const Module::Inputs& inputs, const Context& context) {
    Tensor x = Tensor::copy_of(sequence("X", inputs.tensor("X"), d_model));
    const Mask mask = inputs.mask("mask");
    layer.forward(x, {mask}, context);
    return x;
  });
}

std::unique_ptr<Module> encoder_block(const ConfigReader& options, const WeightScope& scope) {
  return block(block_config(options, "ffn_num_hiddens"), scope);
}

std::unique_ptr<Module> vit_block(const ConfigReader& options, const WeightScope& scope) {
  BlockConfig config = block_config(options, "mlp_num_hiddens");
  config.order = NormOrder::pre;
  config.feed_forward.activation = Activation::gelu_erf;
  return block(config, scope);
}

std::unique_ptr<Module> decoder_block(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = block_config(options, "ffn_num_hiddens");
  return module_of([d_model = config.attention.d_model, layer = DecoderBlock(scope, config)](
                       const Module::Inputs& inputs, const Context& context) {
    Tensor x =
        Tensor::copy_of(sequence("d2l.TransformerDecoderBlock: X", inputs.tensor("X"), d_model));
    const TensorView memory =
        sequence("d2l.TransformerDecoderBlock: enc_outputs", inputs.tensor("enc_outputs"), d_model);
    const Mask mask = inputs.mask("mask"), cross = inputs.mask("enc_mask");
    layer.forward(x, memory, {mask}, {cross}, context);
    return x;
  });
}

const Factory kD2lFactories[] = {
    {"d2l.AdditiveAttention", {"num_hiddens", "dropout"}, additive_attention},
    {"d2l.MultiHeadAttention",
     {"num_hiddens", "num_heads", "dropout", "bias", "attention", "attention_num_hiddens"},
     multi_head_attention},
    {"d2l.AddNorm", {"norm_shape", "dropout"}, add_norm},
    {"d2l.PositionWiseFFN", {"ffn_num_hiddens", "ffn_num_outputs"}, feed_forward},
    {"d2l.PatchEmbedding", {"img_size", "patch_size", "num_hiddens"}, patch_embedding},
    {"d2l.PositionalEncoding", {"num_hiddens", "dropout", "max_len"}, positional_encoding},
    {"d2l.TransformerEncoderBlock",
     {"num_hiddens", "ffn_num_hiddens", "num_heads", "dropout", "use_bias"},
     encoder_block},
    {"d2l.TransformerDecoderBlock",
     {"num_hiddens", "ffn_num_hiddens", "num_heads", "dropout", "use_bias"},
     decoder_block},
    {"d2l.ViTBlock",
     {"num_hiddens", "mlp_num_hiddens", "num_heads", "dropout", "use_bias", "norm_shape"},
     vit_block},
};

}  // namespace

Library d2l_library() { return {std::begin(kD2lFactories), std::end(kD2lFactories), d2l_names}; }

}  // namespace clearformer::modules
