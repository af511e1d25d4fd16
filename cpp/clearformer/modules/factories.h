// Factories of the modules of one library: one entry per class.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "clearformer/layers/feed_forward.h"
#include "clearformer/layers/multi_head_attention.h"
#include "clearformer/modules/module.h"
#include "clearformer/weights/scope.h"

namespace clearformer::modules {

struct Factory {
  std::string_view kind;
  std::string_view options;  // the class's, separated by spaces
  const char* inputs;        // of a call, separated by ", "; masks are called "…mask"
  std::unique_ptr<Module> (*make)(const ConfigReader& options, const WeightScope& scope);
};

/// All classes of a library, and its names of state_dict keys.
struct Library {
  const Factory* begin;
  const Factory* end;
  NameMap (*names)(std::string_view kind, const ConfigReader& options);
};
Library torch_library();
Library d2l_library();
Library sentence_transformers_library();

/// An option that is a size or a list of sizes.
Shape shape_option(const ConfigReader& options, std::string_view key);

/// The shape of `x` with other features, those of its last axis; throws shape_mismatch for a scalar.
Shape with_features(std::string_view kind, const TensorView& x, std::size_t features);

/// The rows (R, N) that `x` consists of, whose last axes must be `normalized`, with N elements.
Shape normalized_rows(std::string_view what, const TensorView& x, const Shape& normalized);

/// Makes a module of an object that owns its layers, with
///   Tensor forward(inputs, context) const;
///   Module::Gradients backward(inputs, d_output, context) const;
template <class Layers>
std::unique_ptr<Module> module_of(Layers layers) {
  class Made : public Module {
   public:
    explicit Made(Layers&& made) : layers_(std::move(made)) {}

   protected:
    Tensor forward(const Inputs& inputs, const Context& context) override {
      return layers_.forward(inputs, context);
    }
    Gradients backward(const Inputs& inputs, const TensorView& d_output,
                       const Context& context) override {
      return layers_.backward(inputs, d_output, context);
    }

   private:
    Layers layers_;
  };
  return std::make_unique<Made>(std::move(layers));
}

/// Gradients by the names of inputs.
struct NamedGradient {
  std::string_view name;
  Tensor&& gradient;
};
Module::Gradients gradients_of(std::initializer_list<NamedGradient> named);

/// The classes of torch.nn that are stacks of blocks (torch_transformer.cpp).
std::unique_ptr<Module> encoder_layer(const ConfigReader& options, const WeightScope& scope);
std::unique_ptr<Module> decoder_layer(const ConfigReader& options, const WeightScope& scope);
std::unique_ptr<Module> encoder(const ConfigReader& options, const WeightScope& scope);
std::unique_ptr<Module> decoder(const ConfigReader& options, const WeightScope& scope);
std::unique_ptr<Module> transformer(const ConfigReader& options, const WeightScope& scope);

// What these and nn.MultiheadAttention have in common.

/// A linear layer of in_features, out_features and bias over "input", then an activation. `kind` names it in errors.
std::unique_ptr<Module> linear_module(std::string_view kind, Activation activation,
                                      const ConfigReader& options, const WeightScope& scope);
/// The options of nn.LayerNorm or nn.RMSNorm.
NormConfig torch_norm(const ConfigReader& options, NormKind kind);
/// The option `key`, present by default.
Bias bias_of(const ConfigReader& options, std::string_view key = "bias");
/// Heads of embed_dim / num_heads.
AttentionConfig torch_attention(const ConfigReader& options, std::string_view d_model,
                                std::string_view heads);

/// Views a (T, D) input as a batch of one; the result has the axes of the input.
struct Batched {
  TensorView view;
  bool lifted;

  Batched(std::string_view what, const TensorView& x);
  /// A result of that batch with the input's axes.
  Tensor unlifted(Tensor x) const {
    if (lifted) x.reshape({x.dim(1), x.dim(2)});
    return x;
  }
};

}  // namespace clearformer::modules
