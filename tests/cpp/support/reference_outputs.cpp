#include "support/reference_outputs.h"

#include <algorithm>
#include <stdexcept>

#include "support/closeness.h"

namespace clearformer::test {

namespace {

// Zeroes what a mask (B, T) masks in x (B, T, …); for maps (B, H, T, S), rows.
Tensor zero_where_masked(const Tensor& x, const Tensor& mask, bool map) {
  Tensor compared = x.clone();
  const std::size_t axis = map ? 2 : 1;
  if (x.shape().rank() <= axis || x.dim(axis) != mask.dim(1)) return compared;
  const std::size_t length = x.dim(axis),
                    row = x.shape().rank() == axis + 1
                              ? 1
                              : x.elements() / x.dim(0) / length / (map ? x.dim(1) : 1);
  const std::size_t heads = map ? x.dim(1) : 1;
  for (std::size_t i = 0; i < x.dim(0) * heads * length; ++i) {
    const std::size_t batch = i / length / heads, position = i % length;
    if (mask.view().as<std::uint8_t>()[batch * length + position] != 0) continue;
    std::fill_n(compared.f32() + i * row, row, 0.0f);
  }
  return compared;
}

// The mask for comparing an output: the decoder's own outputs have another one.
std::optional<Tensor> comparison_mask(const Case& reference, const std::string& output) {
  const bool image = output.rfind("vision_", 0) == 0 || output.rfind("image_", 0) == 0;
  const bool target = output.rfind("decoder_", 0) == 0 || output.rfind("cross_", 0) == 0 ||
                      (output == "logits" && (reference.has_input("decoder_input_ids") ||
                                              reference.has_input("decoder_inputs_embeds")));
  const std::string name = target ? "decoder_attention_mask" : "attention_mask";
  if (image || !reference.has_input(name)) return std::nullopt;
  return reference.uint8_input(name);
}

// Configurations of many layers amplify rounding: of those transformers' own error is known as well.
Bound bound_of(const Case& reference, const std::string& output) {
  Bound bound = kModelBound;
  if (reference.op() != "config_keys" || !reference.has_member("float32_error")) return bound;
  bound.absolute += reference.member("float32_error").find(output)->number();
  return bound;
}

// A member of one of Hugging Face's lists, "hidden_states.1", from the trace.
const Tensor& listed(const std::vector<OutputList>& lists, const std::string& name,
                     const Trace& trace) {
  const std::size_t dot = name.rfind('.');
  for (const OutputList& list : lists) {
    if (list.name != name.substr(0, dot)) continue;
    return trace.at(list.hooks.at(std::stoul(name.substr(dot + 1))));
  }
  throw std::runtime_error("no list holds " + name);
}

}  // namespace

void expect_reference_outputs(const Case& reference, Model& model, ModelOutputs& outputs,
                              const Trace& trace) {
  std::vector<OutputList> lists = model.hidden_states();
  for (OutputList& list : model.attentions()) lists.push_back(std::move(list));
  for (const std::string& name : reference.outputs()) {
    if (name == "sequences" || name == "loss") continue;
    const Tensor* found = outputs.find(name);
    const Tensor& actual = found == nullptr ? listed(lists, name, trace) : *found;
    const Tensor& expected = reference.output(name);
    const auto mask = comparison_mask(reference, name);
    const bool map = name.find("attentions.") != std::string::npos;
    const Bound bound = bound_of(reference, name);
    if (mask && actual.shape() == expected.shape()) {
      expect_close(name, zero_where_masked(actual, *mask, map),
                   zero_where_masked(expected, *mask, map), bound);
    } else {
      expect_close(name, actual, expected, bound);
    }
  }
}

}  // namespace clearformer::test
