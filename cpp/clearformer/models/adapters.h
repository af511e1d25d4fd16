// Adapters: LoRA adapters of a model under names, of which some are in force.
//
// They are low-rank updates of linear layers (layers/low_rank.h), named as PEFT names them and given for the tensors of
// the checkpoint: where several of our layers are stacked in one, they share A, and each has its rows of B.
#pragma once

#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clearformer/layers/low_rank.h"
#include "clearformer/models/parameters.h"

namespace clearformer {

/// What an adapter adds to the weight of one linear layer of the checkpoint: scale·B·A.
struct AdapterUpdate {
  std::string weight = {};  // the checkpoint's tensor (out, in), or (in, out) as the model reads it
  std::string name = {};    // of the module with name.lora_A.weight and name.lora_B.weight
  Tensor down = {}, up = {};  // A (r, in), B (out, r)
  float scale = 1.0f;
};

/// An adapter in force, and a factor of its scale.
struct ActiveAdapter {
  std::string name;
  float scale = 1.0f;
};

/// The adapters of a model.
class Adapters {
 public:
  /// Adds an adapter, which has no effect before use(). Throws invalid_argument for a name that exists and for weights
  /// that the model does not have, unsupported for weights that are not those of a linear layer, shape_mismatch for
  /// matrices of other sizes, dtype_mismatch for those that are not float32; then nothing is added.
  void add(const Parameters& model, std::string name, std::vector<AdapterUpdate> updates);
  /// Passes that begin afterwards add exactly these, in this order; none: the model's own weights. Throws
  /// invalid_argument for an unknown name or the same twice, or out_of_memory; then those of before remain in force.
  void use(const Parameters& model, std::vector<ActiveAdapter> active);
  /// Releases an adapter, which is then no longer in force.
  void remove(const Parameters& model, std::string_view name);

  const std::vector<ActiveAdapter>& active() const { return active_; }
  /// The matrices under PEFT's names. Throws invalid_argument for an unknown name.
  const Parameters& parameters(std::string_view name) const { return find(name).parameters; }
  /// Our names of the weights that it adapts.
  const std::vector<std::string>& layers(std::string_view name) const { return find(name).layers; }
  /// Of all adapters.
  std::size_t bytes() const;

 private:
  struct Part {
    std::shared_ptr<LowRankUpdates> layer;
    LowRankUpdate update;
  };
  struct Adapter {
    std::string name;
    std::vector<Part> parts;
    Parameters parameters;
    std::vector<std::string> layers;
  };
  const Adapter& find(std::string_view name) const;

  std::list<Adapter> all_;
  std::vector<ActiveAdapter> active_;
};

}  // namespace clearformer
