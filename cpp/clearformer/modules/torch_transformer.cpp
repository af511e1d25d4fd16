// The classes of torch.nn that are blocks and stacks of them: options as in PyTorch 2, batch first, without dropout.

#include "clearformer/layers/decoder.h"
#include "clearformer/modules/factories.h"

namespace clearformer::modules {

namespace {

BlockConfig torch_block(const ConfigReader& options) {
  BlockConfig block;
  block.attention = torch_attention(options, "d_model", "nhead");
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

StackConfig torch_stack(const ConfigReader& options, std::string_view layers, bool norm) {
  return {torch_block(options), options.size(layers, 6),
          norm ? FinalNorm::present : FinalNorm::none};
}

// The option "norm" of a stack: whether there is a norm like those of the blocks, or the options of its own.
StackConfig torch_stack_with_norm(const ConfigReader& options) {
  const Json* norm = options.find_set("norm");
  const bool own = norm != nullptr && norm->is_object();
  StackConfig config = torch_stack(options, "num_layers", own || options.flag("norm", false));
  if (!own) return config;
  const ConfigReader of_norm = *options.object("norm");
  config.own_final_norm =
      torch_norm(of_norm, of_norm.text("kind") == "nn.RMSNorm" ? NormKind::rms : NormKind::layer);
  if (config.own_final_norm->shape != config.block.norm.shape) {
    of_norm.refuse_must("normalized_shape", "be d_model");
  }
  return config;
}

// An input (B, T, D) or (T, D) of D features.
Batched sequences(std::string_view kind, std::string_view name, const Module::Inputs& inputs,
                  std::size_t features) {
  const std::string what = concat("nn.", kind, ": ", name);
  Batched x(what, inputs.tensor(name));
  if (x.view.dim(2) != features) {
    fail(ErrorCode::shape_mismatch, what, " of shape ", x.view.shape().text(), " has ",
         x.view.dim(2), " features, the module takes ", features);
  }
  return x;
}

StackState decoder_state(const Module::Inputs& inputs) {
  return {.mask = inputs.mask("tgt_mask"), .cross_mask = inputs.mask("memory_mask")};
}

// d becomes the gradient of the stack's input, in place.
void backward_of(const Encoder& stack, const MutableTensorView& d, const StackState& state,
                 const Context& context) {
  stack.finish_back(d, context);
  for (std::size_t layer = stack.layers(); layer-- > 0;) {
    stack.backward_layer(layer, d, state, context);
  }
}

void backward_of(const Decoder& stack, const MutableTensorView& d, const TensorView& memory,
                 const MutableTensorView& d_memory, const StackState& state,
                 const Context& context) {
  stack.finish_back(d, context);
  for (std::size_t layer = stack.layers(); layer-- > 0;) {
    stack.backward_layer(layer, d, memory, d_memory, state, context);
  }
}

// A block, or a stack of them, over "src".
template <class Layers>
struct EncoderModule {
  std::string_view kind;
  std::size_t d_model;
  Layers layers;

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Batched src = sequences(kind, "src", inputs, d_model);
    Tensor x = Tensor::copy_of(src.view);
    const Mask mask = inputs.mask("mask");
    if constexpr (std::is_same_v<Layers, Encoder>) {
      layers.forward(x, {.mask = mask}, context);
    } else {
      layers.forward(x, {mask}, context);
    }
    return src.unlifted(std::move(x));
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const Batched src = sequences(kind, "src", inputs, d_model);
    Tensor d = Tensor::copy_of(expect_gradient(d_output, src.view.shape()));
    const Mask mask = inputs.mask("mask");
    if constexpr (std::is_same_v<Layers, Encoder>) {
      backward_of(layers, d, {.mask = mask}, context);
    } else {
      layers.backward(d, {mask}, context);
    }
    return gradients_of({{"src", src.unlifted(std::move(d))}});
  }
};

// The same over "tgt" and "memory".
template <class Layers>
struct DecoderModule {
  std::string_view kind;
  std::size_t d_model;
  Layers layers;

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Batched tgt = sequences(kind, "tgt", inputs, d_model);
    const Batched memory = sequences(kind, "memory", inputs, d_model);
    Tensor x = Tensor::copy_of(tgt.view);
    const StackState state = decoder_state(inputs);
    if constexpr (std::is_same_v<Layers, Decoder>) {
      layers.forward(x, memory.view, state, context);
    } else {
      layers.forward(x, memory.view, {state.mask}, {state.cross_mask}, context);
    }
    return tgt.unlifted(std::move(x));
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const Batched tgt = sequences(kind, "tgt", inputs, d_model);
    const Batched memory = sequences(kind, "memory", inputs, d_model);
    Tensor d = Tensor::copy_of(expect_gradient(d_output, tgt.view.shape()));
    Tensor d_memory = Tensor::zeros(memory.view.shape());
    const StackState state = decoder_state(inputs);
    if constexpr (std::is_same_v<Layers, Decoder>) {
      backward_of(layers, d, memory.view, d_memory, state, context);
    } else {
      layers.backward(d, memory.view, d_memory, {state.mask}, {state.cross_mask}, context);
    }
    return gradients_of(
        {{"tgt", tgt.unlifted(std::move(d))}, {"memory", memory.unlifted(std::move(d_memory))}});
  }
};

struct TransformerModule {
  std::size_t d_model;
  Encoder encoder;
  Decoder decoder;

  static constexpr std::string_view kKind = "Transformer";

  Tensor forward(const Module::Inputs& inputs, const Context& context) const {
    const Batched src = sequences(kKind, "src", inputs, d_model);
    const Batched tgt = sequences(kKind, "tgt", inputs, d_model);
    Tensor memory = Tensor::copy_of(src.view), x = Tensor::copy_of(tgt.view);
    encoder.forward(memory, {.mask = inputs.mask("src_mask")}, context / "encoder");
    context.trace.keep("memory", memory);
    decoder.forward(x, memory, decoder_state(inputs), context / "decoder");
    return tgt.unlifted(std::move(x));
  }
  Module::Gradients backward(const Module::Inputs& inputs, const TensorView& d_output,
                             const Context& context) const {
    const Batched src = sequences(kKind, "src", inputs, d_model);
    const Batched tgt = sequences(kKind, "tgt", inputs, d_model);
    Tensor d = Tensor::copy_of(expect_gradient(d_output, tgt.view.shape()));
    Tensor d_memory = Tensor::zeros(src.view.shape());
    backward_of(decoder, d, context.trace.kept("memory"), d_memory, decoder_state(inputs),
                context / "decoder");
    backward_of(encoder, d_memory, {.mask = inputs.mask("src_mask")}, context / "encoder");
    return gradients_of(
        {{"src", src.unlifted(std::move(d_memory))}, {"tgt", tgt.unlifted(std::move(d))}});
  }
};

}  // namespace

std::unique_ptr<Module> encoder_layer(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = torch_block(options);
  return module_of(EncoderModule<EncoderBlock>{"TransformerEncoderLayer", config.attention.d_model,
                                               EncoderBlock(scope, config)});
}

std::unique_ptr<Module> decoder_layer(const ConfigReader& options, const WeightScope& scope) {
  const BlockConfig config = torch_block(options);
  return module_of(DecoderModule<DecoderBlock>{"TransformerDecoderLayer", config.attention.d_model,
                                               DecoderBlock(scope, config)});
}

std::unique_ptr<Module> encoder(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig config = torch_stack_with_norm(options);
  return module_of(EncoderModule<Encoder>{"TransformerEncoder", config.block.attention.d_model,
                                          Encoder(scope, config)});
}

std::unique_ptr<Module> decoder(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig config = torch_stack_with_norm(options);
  return module_of(DecoderModule<Decoder>{"TransformerDecoder", config.block.attention.d_model,
                                          Decoder(scope, config)});
}

std::unique_ptr<Module> transformer(const ConfigReader& options, const WeightScope& scope) {
  const StackConfig of_encoder = torch_stack(options, "num_encoder_layers", true);
  const StackConfig of_decoder = torch_stack(options, "num_decoder_layers", true);
  return module_of(TransformerModule{of_encoder.block.attention.d_model,
                                     Encoder(scope / "encoder", of_encoder),
                                     Decoder(scope / "decoder", of_decoder)});
}

}  // namespace clearformer::modules
