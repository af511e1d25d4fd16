#include "clearformer/models/adapters.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "clearformer/weights/weights.h"

namespace clearformer {

namespace {

// The layers whose weights are (in) that tensor of the checkpoint.
std::vector<const Parameter*> layers_of(const Parameters& model, const std::string& weight) {
  std::vector<const Parameter*> layers;
  for (const Parameter& parameter : model.all()) {
    if (parameter.stored.name == weight) layers.push_back(&parameter);
  }
  if (layers.empty()) {
    fail(ErrorCode::invalid_argument, "adapter: the model has no weight \"", weight, "\"");
  }
  for (const Parameter* layer : layers) {
    if (layer->is_adapted()) continue;
    fail(ErrorCode::unsupported, "adapter: \"", weight,
         "\" is not the weight of a linear layer, and only those are adapted");
  }
  return layers;
}

void expect_sizes(const AdapterUpdate& update, const Parameter& layer) {
  const Shape& stored = layer.stored_shape;
  const std::size_t outputs = stored[layer.turned() ? 1 : 0], inputs = layer.rows->inputs();
  const Shape &down = update.down.shape(), &up = update.up.shape();
  if (down.rank() == 2 && up.rank() == 2 && down[0] != 0 && down[1] == inputs && up[0] == outputs &&
      up[1] == down[0]) {
    return;
  }
  fail(ErrorCode::shape_mismatch, "adapter: ", update.name, ": lora_A of shape ", down.text(),
       " and lora_B of shape ", up.text(), ", expected (r, ", inputs, ") and (", outputs, ", r)");
}

Parameter named(const AdapterUpdate& update, const char* leaf, const Shape& shape, RowRuns places,
                std::shared_ptr<WeightRows> rows) {
  const std::string name = concat(update.name, leaf);
  return {name, {name}, shape, places, std::move(rows)};
}

// The rows of B of one of the layers that share A.
std::shared_ptr<kernels::PackedMatrix> rows_of(const Tensor& up, const RowRuns& places) {
  const std::size_t rank = up.dim(1), run = places.count * rank;
  Tensor rows = Weights::allocate({places.count * places.runs, rank}, DType::f32);
  for (std::size_t i = 0; i < places.runs; ++i) {
    std::memcpy(rows.f32() + i * run, up.f32() + (places.first + i * places.stride) * rank,
                run * sizeof(float));
  }
  return std::make_shared<kernels::PackedMatrix>(std::move(rows));
}

}  // namespace

void Adapters::add(const Parameters& model, std::string name, std::vector<AdapterUpdate> updates) {
  for (const Adapter& other : all_) {
    if (other.name != name) continue;
    fail(ErrorCode::invalid_argument, "adapter: \"", name, "\" exists already");
  }
  std::vector<Part> parts;
  std::vector<Parameter> parameters;
  std::vector<std::string> paths;
  for (AdapterUpdate& update : updates) {
    const std::vector<const Parameter*> layers = layers_of(model, update.weight);
    expect_sizes(update, *layers.front());
    const Shape down_shape = update.down.shape(), up_shape = update.up.shape();
    const auto down = std::make_shared<kernels::PackedMatrix>(std::move(update.down));
    const std::size_t rank = down_shape[0];
    parameters.push_back(named(update, ".lora_A.weight", down_shape, {0, rank, rank, 1}, down));
    for (const Parameter* layer : layers) {
      const auto up = rows_of(update.up, layer->places);
      parameters.push_back(named(update, ".lora_B.weight", up_shape, layer->places, up));
      parts.push_back({layer->updates, {down, up, update.scale}});
      paths.push_back(layer->path);
    }
  }
  all_.push_back(
      {std::move(name), std::move(parts), Parameters(std::move(parameters)), std::move(paths)});
}

void Adapters::use(const Parameters& model, std::vector<ActiveAdapter> active) {
  for (std::size_t i = 0; i < active.size(); ++i) {
    find(active[i].name);
    for (std::size_t before = 0; before < i; ++before) {
      if (active[before].name != active[i].name) continue;
      fail(ErrorCode::invalid_argument, "adapter: \"", active[i].name, "\" is named twice");
    }
  }
  for (const Parameter& parameter : model.all()) {
    if (parameter.updates != nullptr) parameter.updates->begin();
  }
  for (const auto& [name, scale] : active) {
    for (const auto& [layer, update] : find(name).parts) {
      const float product = update.scale * scale;
      if (!std::isfinite(product)) {
        fail(ErrorCode::invalid_argument, "adapter: \"", name, "\" scaled by ", update.scale,
             " and ", scale, " is not finite");
      }
      layer->add({update.down, update.up, product});
    }
  }
  active_ = std::move(active);
  for (const Parameter& parameter : model.all()) {
    if (parameter.updates != nullptr) parameter.updates->put_in_force();
  }
}

void Adapters::remove(const Parameters& model, std::string_view name) {
  const Adapter* removed = &find(name);
  std::vector<ActiveAdapter> rest = active_;
  std::erase_if(rest, [&](const ActiveAdapter& active) { return active.name == name; });
  use(model, std::move(rest));
  all_.remove_if([&](const Adapter& adapter) { return &adapter == removed; });
}

std::size_t Adapters::bytes() const {
  std::size_t bytes = 0;
  for (const Adapter& adapter : all_) {
    for (const Parameter& parameter : adapter.parameters.all()) bytes += parameter.rows->bytes();
  }
  return bytes;
}

const Adapters::Adapter& Adapters::find(std::string_view name) const {
  for (const Adapter& adapter : all_) {
    if (adapter.name == name) return adapter;
  }
  fail(ErrorCode::invalid_argument, "adapter: there is none named \"", name, "\"");
}

}  // namespace clearformer
