// Attention of d2l.ai: additive, and multi-head with either score.

#include "clearformer/layers/additive_attention.h"
#include "clearformer/layers/attention_traced_backward.h"
#include "clearformer/modules/d2l_modules.h"

namespace clearformer::modules {

namespace {

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

// The core of attention with one head, whose queries and keys are W_q·q and W_k·k.
struct AdditiveModule {
  AdditiveScore score;

  struct Call {
    TensorView queries, keys, values;  // (B, T, 1, ·)
    Mask mask;
  };
  Call call(const Module::Inputs& inputs) const {
    constexpr std::string_view kName = "d2l.AdditiveAttention: ";
    const auto operand = [&](const char* name, std::size_t features) {
      return sequence(concat(kName, name), inputs.tensor(name), features);
    };
    const TensorView queries = operand("queries", score.query_size());
    const TensorView keys = operand("keys", score.key_size()), values = operand("values", 0);
    check_pairs(kName, queries, keys, values);
    const auto of_one_head = [](const TensorView& x) {
      return x.reshaped({x.dim(0), x.dim(1), 1, x.dim(2)});
    };
    return {of_one_head(queries), of_one_head(keys), of_one_head(values),
            inputs.mask("mask").without_heads()};
  }
  AttentionOptions options() const {
    AttentionOptions core;
    core.score = {kernels::additive_scores, score.weights()};
    core.empty_row = EmptyRow::uniform;
    core.headless = true;
    return core;
  }
  struct Projected {
    MutableTensorView queries, keys;  // (B, T, 1, h)
  };
  Projected project(const Call& of, Arena& arena) const {
    const auto room = [&](const TensorView& x) {
      return arena.take({x.dim(0), x.dim(1), 1, score.hidden()});
    };
    const Projected projected{room(of.queries), room(of.keys)};
    score.project_queries(of.queries, projected.queries);
    score.project_keys(of.keys, projected.keys);
    return projected;
  }

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Call of = call(inputs);
    Arena::Frame frame(context.arena);
    const std::size_t batch = of.queries.dim(0), length = of.queries.dim(1);
    const Projected projected = project(of, context.arena);
    const MutableTensorView softmax = context.arena.take({batch, 1, length, 2});
    Tensor output({batch, length, 1, of.values.dim(3)});
    const PackedKeyValues packed = packed_in(
        context.arena, positions_first(TensorView(projected.keys)), positions_first(of.values));
    attention(positions_first(TensorView(projected.queries)), packed, of.mask, options(),
              positions_first_mutable(output), context, softmax.f32());
    context.trace.keep("softmax", softmax);
    context.trace.keep("output", output);
    output.reshape({batch, length, of.values.dim(3)});
    return output;
  }

  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const Call of = call(inputs);
    Arena& arena = context.arena;
    const Arena::Frame frame(arena);
    const TensorView output = context.trace.kept("output");
    const TensorView d = expect_gradient(d_output, {output.dim(0), output.dim(1), output.dim(3)})
                             .reshaped(output.shape());
    const Projected projected = project(of, arena);
    const MutableTensorView dq = arena.take(projected.queries.shape());
    const MutableTensorView dk = arena.take(projected.keys.shape());
    Tensor queries(of.queries.shape()), keys(of.keys.shape()), values(of.values.shape());
    WeightGradients* const weights = context.trace.weights();
    const AttentionKept kept{
        positions_first(TensorView(projected.queries)), positions_first(TensorView(projected.keys)),
        positions_first(of.values), positions_first(output), context.trace.kept("softmax").f32()};
    AttentionGradients to{positions_first_mutable(dq), positions_first_mutable(dk),
                          positions_first_mutable(values)};
    if (weights != nullptr) to.weights = weights->of(score.weight());
    if (!traced_attention_backward(kept, of.mask, options(), positions_first(d), to, context)) {
      attention_backward(kept, of.mask, options(), positions_first(d), to, arena);
    }
    score.queries_back(of.queries, dq, queries, weights, arena);
    score.keys_back(of.keys, dk, keys, weights, arena);
    for (Tensor* each : {&queries, &keys, &values}) {
      each->reshape({each->dim(0), each->dim(1), each->dim(3)});
    }
    return gradients_of({{"queries", std::move(queries)},
                         {"keys", std::move(keys)},
                         {"values", std::move(values)}});
  }
};

struct MultiHeadModule {
  MultiHeadAttention layer;

  TensorView queries(const Module::Inputs& inputs) const {
    return sequence("d2l.MultiHeadAttention: queries", inputs.tensor("queries"), 0);
  }
  Shape shape(const TensorView& queries) const {
    return {queries.dim(0), queries.dim(1), layer.config().d_model};
  }
  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const TensorView queries = this->queries(inputs);
    Tensor y(shape(queries));
    const Mask mask = inputs.mask("mask");
    layer.forward({queries, inputs.tensor("keys"), inputs.tensor("values")}, {mask}, y,
                  context / "attn");
    return y;
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const TensorView queries = this->queries(inputs), keys = inputs.tensor("keys");
    const TensorView values = inputs.tensor("values");
    Tensor dq(queries.shape()), dk = Tensor::zeros(keys.shape());
    Tensor dv = Tensor::zeros(values.shape());
    const Mask mask = inputs.mask("mask");
    layer.backward({queries, keys, values}, {mask}, expect_gradient(d_output, shape(queries)),
                   {dq, dk, dv}, Write::over, context / "attn");
    return gradients_of(
        {{"queries", std::move(dq)}, {"keys", std::move(dk)}, {"values", std::move(dv)}});
  }
};

}  // namespace

std::size_t columns_of(const WeightScope& scope, std::size_t fallback) {
  const auto shape = scope.stored_shape("weight");
  return shape && shape->rank() == 2 ? shape->back(0) : fallback;
}

TensorView sequence(std::string_view what, const TensorView& x, std::size_t features) {
  if (x.shape().rank() != 3 || (features != 0 && x.dim(2) != features)) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", x.shape().text(),
         ", expected [batch, length, ", features == 0 ? "features" : std::to_string(features), "]");
  }
  return x;
}

AttentionConfig d2l_attention(const ConfigReader& options, std::string_view bias) {
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

std::unique_ptr<Module> additive_attention(const ConfigReader& options, const WeightScope& scope) {
  const std::size_t hidden = options.size("num_hiddens");
  const std::size_t query_size = columns_of(scope / "W_q", hidden);
  const std::size_t key_size = columns_of(scope / "W_k", hidden);
  return module_of(AdditiveModule{AdditiveScore(scope, query_size, key_size, hidden)});
}

std::unique_ptr<Module> multi_head_attention(const ConfigReader& options,
                                             const WeightScope& scope) {
  AttentionConfig config = d2l_attention(options, "bias");
  config.query_features = columns_of(scope / "q_proj", config.d_model);
  config.key_features = columns_of(scope / "k_proj", config.d_model);
  config.value_features = columns_of(scope / "v_proj", config.d_model);
  const std::string score = options.text("attention", "dot");
  if (score == "additive") {
    config.additive_hidden = options.size("attention_num_hiddens", config.d_head);
  } else if (score != "dot") {
    options.refuse(ErrorCode::unsupported, "attention", "is \"", score,
                   "\"; supported: dot, additive");
  } else if (options.is_set("attention_num_hiddens")) {
    options.refuse_value("attention_num_hiddens", "needs attention \"additive\"");
  }
  return module_of(MultiHeadModule{MultiHeadAttention(scope, config)});
}

}  // namespace clearformer::modules
