// Handles: objects of the core, referred to from JavaScript by number. Using a released number is an
// error, never a dangling pointer.
#pragma once

#include <map>
#include <memory>
#include <variant>

#include "clearformer/clearformer.h"

namespace clearformer::bindings {

class Observation;
class GivenInputs;

/// A forward pass in progress, with its inputs.
struct OpenPass;
/// The same for one that is differentiated.
struct OpenGradient;
/// The same for an optimiser.
struct OpenBackward;

struct OpenModel {
  std::unique_ptr<Model> model;
  GenerationConfig defaults;
  std::size_t passes = 0;                  // that have begun and not ended
  std::shared_ptr<OpenPass> pass;          // the pass in progress, if any
  std::shared_ptr<OpenGradient> gradient;  // the same, differentiated
};

/// A generation keeps its model and cache alive, and the observation of the current step.
struct OpenGeneration {
  OpenGeneration(std::shared_ptr<OpenModel> open, std::shared_ptr<KeyValueCache> given,
                 const ModelInputs& inputs, GenerationConfig&& config,
                 std::unique_ptr<Observation> observation);
  ~OpenGeneration();

  std::shared_ptr<OpenModel> model;
  std::shared_ptr<KeyValueCache> cache;  // null if the generation has its own
  std::unique_ptr<Observation> observation;
  Generation generation;
};

/// An optimiser of a model's weights, or of those of one of its adapters, with the sums of their gradients.
struct OpenOptimizer {
  std::shared_ptr<OpenModel> model;
  std::string adapter;  // empty: the model's weights
  std::vector<Parameter> parameters;
  WeightGradients gradients;
  std::unique_ptr<Optimizer> optimizer;
  Schedule schedule;
  std::size_t steps = 0;
  bool ready = false;                  // whether there are gradients, of a pass that was completed
  std::shared_ptr<OpenBackward> pass;  // the pass in progress, if any

  std::size_t bytes() const { return gradients.bytes() + optimizer->bytes(); }
};

/// Bytes of the weights, of keys and values, and of activations.
struct MemoryUse {
  std::size_t weights = 0, cache = 0, workspace = 0;
  std::size_t total() const { return weights + cache + workspace; }
};

class Handles {
 public:
  template <class T>
  int add(std::shared_ptr<T> object) {
    objects_.emplace(++last_, std::move(object));
    return last_;
  }

  /// Throws disposed if the number is unknown or of another kind; `what` names the kind.
  template <class T>
  std::shared_ptr<T> get(int handle, const char* what) const {
    const auto found = objects_.find(handle);
    if (found != objects_.end()) {
      if (const auto* object = std::get_if<std::shared_ptr<T>>(&found->second)) return *object;
    }
    fail(ErrorCode::disposed, what, " ", handle, " was disposed or never existed");
  }

  void release(int handle) { objects_.erase(handle); }

  /// Bytes of all objects; the previous result if there is no memory to compute it.
  MemoryUse memory();
  /// Updates and returns the peak of bytes held; called at the end of calls that compute.
  std::size_t note_peak();

 private:
  using Object = std::variant<std::shared_ptr<CheckpointReader>, std::shared_ptr<OpenModel>,
                              std::shared_ptr<KeyValueCache>, std::shared_ptr<OpenGeneration>,
                              std::shared_ptr<Module>, std::shared_ptr<OpenOptimizer>>;
  MemoryUse counted() const;

  std::map<int, Object> objects_;
  int last_ = 0;
  MemoryUse use_;
  std::size_t peak_ = 0;
};

}  // namespace clearformer::bindings
