#include "clearformer/models/lens_weights.h"

#include <algorithm>
#include <charconv>

namespace clearformer {

namespace {

using Of = ParameterView::Axis::Of;

// How a weight (rows, columns) lies in the tensor of a name.
enum class Form {
  plain,    // [row, column] or [row]
  turned,   // [column, row]
  heads,    // [head, column, row of the head]: projections to queries, keys and values
  output,   // [head, column of the head, row]: the projection of the heads' results
  vectors,  // [head, row of the head]: the biases of projections
  flat,     // [row], also of a bias that is stored as [1, row]
};

struct LensName {
  std::string_view leaf, ours;
  Form form;
  std::string_view scope = {};  // if the leaf alone is a name
};

constexpr LensName kNames[] = {
    {"W_E", "weight", Form::plain, "embed"},
    {"W_pos", "weight", Form::plain, "pos_embed"},
    {"W_U", "weight", Form::turned, "unembed"},
    {"b_U", "bias", Form::flat, "unembed"},
    {"W_Q", "q_proj.weight", Form::heads},
    {"W_K", "k_proj.weight", Form::heads},
    {"W_V", "v_proj.weight", Form::heads},
    {"W_O", "o_proj.weight", Form::output},
    {"b_Q", "q_proj.bias", Form::vectors},
    {"b_K", "k_proj.bias", Form::vectors},
    {"b_V", "v_proj.bias", Form::vectors},
    {"b_O", "o_proj.bias", Form::plain},
    {"W_in", "up_proj.weight", Form::turned},
    {"W_gate", "gate_proj.weight", Form::turned},
    {"W_out", "down_proj.weight", Form::turned},
    {"b_in", "up_proj.bias", Form::plain},
    {"b_gate", "gate_proj.bias", Form::plain},
    {"b_out", "down_proj.bias", Form::plain},
    {"w", "weight", Form::plain},
    {"b", "bias", Form::plain},
};

const LensName* named(std::string_view leaf) {
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames),
                                   [&](const LensName& name) { return name.leaf == leaf; });
  return found == std::end(kNames) ? nullptr : found;
}

// The stack that a name belongs to, by its scope.
const TowerConfig& tower_of(const ModelConfig& config, std::string_view name) {
  const bool second = name.starts_with("decoder.") || name.starts_with("vision_model.");
  if (second && config.second) return *config.second;
  const bool first = name.starts_with("encoder.") || name.starts_with("text_model.");
  return first ? config.tower : config.main();
}

// The scope of a layer in the block that it shares with others: "blocks.0.0.attn" for "blocks.5.attn".
std::string shared_scope(const StackConfig& stack, std::string_view scope) {
  const std::string before = concat(stack.blocks, ".");
  std::size_t layer = stack.layers;
  if (!stack.shared || !scope.starts_with(before)) return {};
  const std::string_view rest = scope.substr(before.size());
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
  if (error != std::errc() || layer >= stack.layers) return {};
  const auto digits = static_cast<std::size_t>(end - rest.data());
  return concat(stack.weights_scope(stack.block_used(layer)), rest.substr(digits));
}

// Other places of a weight that several layers share, or that some models call differently.
std::vector<std::string> places_of(const StackConfig& stack, std::string_view scope,
                                   std::string_view ours) {
  std::vector<std::string> places{concat(scope, ".", ours)};
  if (stack.shared) places.push_back(concat(shared_scope(stack, scope), ".", ours));
  if (scope == "pos_embed" || scope.ends_with(".pos_embed")) places.emplace_back(scope);  // images
  if (scope == "embed" || scope == "pos_embed") {
    for (const char* tower : {"decoder.", "text_model.", "encoder."}) {
      places.push_back(concat(tower, scope, ".", ours));
    }
  }
  if (scope.ends_with(".embed")) places.emplace_back("embed.weight");
  if (scope == "unembed") places.push_back(concat("mlm.out.", ours));
  if (scope == "unembed" && ours == "weight") {
    places.insert(places.end(), {"decoder.embed.weight", "embed.weight"});  // tied
  }
  return places;
}

ParameterView::Piece placed(const Parameter& parameter, Form form, std::size_t d_head,
                            Shape& shape) {
  const std::size_t rows = parameter.rows->outputs(), columns = parameter.rows->inputs();
  ParameterView::Piece piece{&parameter};
  const auto add = [&](Of of, std::size_t extent, std::size_t step = 1) {
    piece.axes.push_back({of, step, 0, extent});
    shape.append(extent);
  };
  shape = Shape();
  switch (form) {
    case Form::heads:
      add(Of::rows, rows / d_head, d_head);
      add(Of::columns, columns);
      add(Of::rows, d_head);
      break;
    case Form::output:
      add(Of::columns, columns / d_head, d_head);
      add(Of::columns, d_head);
      add(Of::rows, rows);
      break;
    case Form::vectors:
      add(Of::rows, rows / d_head, d_head);
      add(Of::rows, d_head);
      break;
    case Form::turned:
      add(Of::columns, columns);
      add(Of::rows, rows);
      break;
    case Form::flat: add(rows == 1 ? Of::columns : Of::rows, rows * columns); break;
    case Form::plain:
      if (parameter.stored_shape.rank() == 3 && rows == 1) {  // positions of images: [1, N, D]
        add(Of::columns, parameter.stored_shape[1], parameter.stored_shape[2]);
        add(Of::columns, parameter.stored_shape[2]);
        break;
      }
      add(Of::rows, rows);
      if (columns != 1 || parameter.stored_shape.rank() > 1) add(Of::columns, columns);
  }
  return piece;
}

// Positions that the model does not use, and factors and terms that it applies to the stored numbers.
void adapt(ParameterView& view, const ModelConfig& config, const TowerConfig& tower,
           const LensName& name) {
  ParameterView::Piece& piece = view.pieces.front();
  if (name.leaf == "w") piece.shift = tower.stack.block.norm.weight_offset;
  if (name.scope == "unembed") piece.scale = config.output.scale;
  if (!tower.text) return;
  if (name.leaf == "W_E") piece.scale = tower.text->scale;
  const std::size_t offset = tower.text->position_offset;
  if (name.leaf == "W_pos" && offset < view.shape[0]) {
    piece.first_row = offset;
    view.shape[0] = piece.axes[0].end = view.shape[0] - offset;
  }
}

// The shape of a bias, from that of the weight it belongs to.
Shape shape_of_bias(std::string_view leaf, const Shape& weight) {
  if (weight.rank() == 2) return {weight[1]};
  return leaf == "b_O" ? Shape{weight[2]} : Shape{weight[0], weight[2]};
}

}  // namespace

ParameterView lens_weight(const ModelConfig& config, const Parameters& parameters,
                          std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string_view leaf = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  const LensName* known = named(leaf);
  const std::string_view scope = dot != std::string_view::npos ? name.substr(0, dot)
                                 : known != nullptr            ? known->scope
                                                               : std::string_view();
  if (known == nullptr || scope.empty()) {
    fail(ErrorCode::invalid_argument, "parameter \"", name, "\": the model has none of that name");
  }
  const TowerConfig& tower = tower_of(config, name);
  ParameterView view;
  view.name = name;
  for (const std::string& place : places_of(tower.stack, scope, known->ours)) {
    const Parameter* parameter = parameters.find(place);
    if (parameter == nullptr) continue;
    view.pieces.push_back(
        placed(*parameter, known->form, tower.stack.block.attention.d_head, view.shape));
    adapt(view, config, tower, *known);
    return view;
  }
  if (!leaf.starts_with("b_")) {
    fail(ErrorCode::invalid_argument, "parameter \"", name, "\": the model has no such weight");
  }
  const std::string weight = concat(scope, ".W_", leaf.substr(2));
  view.shape = shape_of_bias(leaf, lens_weight(config, parameters, weight).shape);
  return view;
}

}  // namespace clearformer
