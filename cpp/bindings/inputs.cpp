#include "bindings/inputs.h"

namespace clearformer::bindings {

GivenInputs::GivenInputs(const Arguments& arguments) {
  for (const InputName& input : kInputNames) {
    const char* name = input.name.data();  // a string literal
    if (!arguments.has(name)) continue;
    tensors_.push_back(input.dtype == DType::f32  ? arguments.floats(name)
                       : input.dtype == DType::u8 ? arguments.flags(name)
                                                  : arguments.integers(name));
    inputs.*input.member = tensors_.back().view();
  }
  inputs.interpolate_pos_encoding = arguments.flag("interpolate_pos_encoding");
  if (arguments.has("past_key_values")) {
    cache = handles().get<KeyValueCache>(arguments.handle("past_key_values"), "past_key_values");
    inputs.cache = cache.get();
  }
}

}  // namespace clearformer::bindings
