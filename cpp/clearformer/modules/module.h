// Module: the building blocks as objects with weights, under the names, options and state_dict keys of torch.nn and
// d2l.ai. Each wraps one of the layers with a name map.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/layers/context.h"
#include "clearformer/layers/masking.h"
#include "clearformer/weights/config_reader.h"
#include "clearformer/weights/weights.h"

namespace clearformer {

/// A layer of torch.nn or d2l.ai: constructed from its options and state_dict, with a forward pass.
class Module {
 public:
  /// Named tensors and masks of one call; look-ups throw invalid_argument naming the missing one.
  struct Inputs {
    std::map<std::string, TensorView, std::less<>> tensors;
    std::map<std::string, Mask, std::less<>> masks;

    TensorView tensor(std::string_view name) const;
    /// If absent, a mask that masks nothing.
    Mask mask(std::string_view name) const;
  };

  virtual ~Module() = default;

  /// The module's output; throws shape_mismatch and the like. The trace sees the layers' hook points.
  virtual Tensor forward(const Inputs& inputs, Trace* trace) = 0;

  /// Creates the module of that name ("nn.TransformerEncoderLayer", "d2l.AddNorm", …) with upstream's
  /// options. `weights` is its state_dict, strict: missing, unexpected and misshaped keys are listed
  /// in one Error. Unknown kinds and options throw unsupported, naming them.
  static std::unique_ptr<Module> make(std::string_view kind, const ConfigReader& options,
                                      Weights weights);

 protected:
  Arena arena_;
};

}  // namespace clearformer
