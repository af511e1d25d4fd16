// Factories of the modules of one library: one entry per class.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include "clearformer/modules/module.h"
#include "clearformer/weights/scope.h"

namespace clearformer::modules {

struct Factory {
  std::string_view kind;
  std::initializer_list<std::string_view> options;  // the class's options
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

/// Wraps a callable forward(inputs, context) -> Tensor that owns its layers as a module.
template <class Forward>
std::unique_ptr<Module> module_of(Forward forward) {
  class Made : public Module {
   public:
    explicit Made(Forward made) : forward_(std::move(made)) {}
    Tensor forward(const Inputs& inputs, Trace* trace) override {
      return forward_(inputs, Context{arena_, TraceScope(trace)});
    }

   private:
    Forward forward_;
  };
  return std::make_unique<Made>(std::move(forward));
}

}  // namespace clearformer::modules
