// Module: the building blocks as objects with weights, under the names, options and state_dict keys of torch.nn and
// d2l.ai. Each wraps one of the layers with a name map.
// Shapes: batch first, as torch with batch_first=True: (B, T, D), where torch takes it also (T, D). There is no dropout.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/layers/context.h"
#include "clearformer/layers/gradient.h"
#include "clearformer/layers/masking.h"
#include "clearformer/weights/config_reader.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

namespace modules {
struct Factory;
}

/// A layer of torch.nn or d2l.ai: constructed from its options and state_dict, with a forward pass.
class Module {
 public:
  /// Named tensors and masks of one call; look-ups throw invalid_argument naming the missing one. The names:
  ///   nn.Linear, nn.Embedding, nn.LayerNorm, nn.RMSNorm, sentence_transformers.Dense: input
  ///   nn.MultiheadAttention: query, key, value, mask
  ///   nn.TransformerEncoderLayer, nn.TransformerEncoder: src, mask
  ///   nn.TransformerDecoderLayer, nn.TransformerDecoder: tgt, memory, tgt_mask, memory_mask
  ///   nn.Transformer: src, tgt, src_mask, tgt_mask, memory_mask
  ///   d2l.AdditiveAttention, d2l.MultiHeadAttention: queries, keys, values, mask
  ///   d2l.AddNorm: X, Y
  ///   d2l.PositionWiseFFN, d2l.PatchEmbedding, d2l.PositionalEncoding: X
  ///   d2l.TransformerEncoderBlock, d2l.ViTBlock: X, mask
  ///   d2l.TransformerDecoderBlock: X, enc_outputs, mask, enc_mask
  /// A mask joins what torch has several arguments for, such as attn_mask and key_padding_mask (Mask's operator &).
  struct Inputs {
    std::map<std::string, TensorView, std::less<>> tensors = {};
    std::map<std::string, Mask, std::less<>> masks = {};

    TensorView tensor(std::string_view name) const;
    /// If absent, a mask that masks nothing.
    Mask mask(std::string_view name) const;
  };

  virtual ~Module() = default;

  /// The module's output; throws unsupported for inputs of other names, shape_mismatch and the like. The trace sees the
  /// layers' hook points.
  Tensor forward(const Inputs& inputs, Trace* trace);

  /// Prepares the trace of a forward pass that backward() follows: the pass keeps what that needs, and the gradients of
  /// the hook points and weights that `gradient` wants, the latter by their state_dict keys, are left there. Throws
  /// invalid_argument for a pattern that no weight matches.
  void differentiate(Trace& trace, Gradient& gradient) const;
  /// The gradients of a call's tensors, by their names.
  using Gradients = std::map<std::string, Tensor, std::less<>>;
  /// From d_output, the gradient of the output of forward(inputs, &trace), those of all floating-point tensors of the
  /// inputs. Throws invalid_argument if the trace was not prepared, shape_mismatch for inputs of other dims.
  Gradients backward(const Inputs& inputs, const TensorView& d_output, Trace& trace);

  /// The weights, in the order in which the layers read them; optimisers change them in place.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// The weight of a state_dict key, as it is now; throws invalid_argument if there is none.
  Tensor weight(std::string_view key) const;
  /// Its gradient, of the same shape; throws invalid_argument if it was not wanted.
  Tensor weight_gradient(const Gradient& gradient, std::string_view key) const;

  /// Creates the module of that name ("nn.TransformerEncoderLayer", "d2l.AddNorm", …) with upstream's
  /// options. `weights` is its state_dict, strict: missing, unexpected and misshaped keys are listed
  /// in one Error. Unknown kinds and options throw unsupported, naming them.
  static std::unique_ptr<Module> make(std::string_view kind, const ConfigReader& options,
                                      Weights weights);

 protected:
  virtual Tensor forward(const Inputs& inputs, const Context& context) = 0;
  virtual Gradients backward(const Inputs& inputs, const TensorView& d_output,
                             const Context& context) = 0;

  Arena arena_;

 private:
  template <class RowsOf>
  Tensor read(std::string_view key, const RowsOf& rows_of) const;

  void check_names(const Inputs& inputs) const;

  const modules::Factory* factory_ = nullptr;
  std::vector<Parameter> parameters_;
};

}  // namespace clearformer
