// How long a differentiated pass takes, as a multiple of the forward pass: processor time of one thread, medians of
// interleaved rounds, random weights in the published shapes of GPT-2 small and all-MiniLM-L6-v2.
//   clearformer_gradients [rounds] [gpt2|minilm] [rows …]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "clearformer/loading/load_model.h"
#include "clearformer/simd/dispatch.h"

namespace clearformer::bench {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Weights of a size at which activations neither grow nor vanish.
class Random {
 public:
  Tensor tensor(const Shape& shape, float scale, float mean = 0.0f) {
    Tensor x(shape);
    for (std::size_t i = 0; i < x.elements(); ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      x.f32()[i] = mean + scale * (static_cast<float>(state_ >> 40) / 8388608.0f - 1.0f);
    }
    return x;
  }

 private:
  std::uint64_t state_ = 1;
};

std::unique_ptr<Model> gpt2() {
  Weights weights;
  Random random;
  const auto add = [&](const std::string& name, const Shape& shape, float scale, float mean = 0) {
    weights.add(name, "random", random.tensor(shape, scale, mean));
  };
  add("wte.weight", {50257, 768}, 0.035f);
  add("wpe.weight", {1024, 768}, 0.035f);
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {768}, 0.1f, 1.0f);
    add(name + ".bias", {768}, 0.1f);
  };
  for (int layer = 0; layer < 12; ++layer) {
    const std::string block = "h." + std::to_string(layer) + ".";
    norm(block + "ln_1");
    norm(block + "ln_2");
    add(block + "attn.c_attn.weight", {768, 2304}, 0.06f);
    add(block + "attn.c_attn.bias", {2304}, 0.1f);
    add(block + "attn.c_proj.weight", {768, 768}, 0.03f);
    add(block + "attn.c_proj.bias", {768}, 0.1f);
    add(block + "mlp.c_fc.weight", {768, 3072}, 0.06f);
    add(block + "mlp.c_fc.bias", {3072}, 0.1f);
    add(block + "mlp.c_proj.weight", {3072, 768}, 0.03f);
    add(block + "mlp.c_proj.bias", {768}, 0.1f);
  }
  norm("ln_f");
  return load_model(std::move(weights), R"({"model_type": "gpt2"})", Task::causal_lm);
}

std::unique_ptr<Model> minilm() {
  Weights weights;
  Random random;
  const auto add = [&](const std::string& name, const Shape& shape, float scale, float mean = 0) {
    weights.add(name, "random", random.tensor(shape, scale, mean));
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {384}, 0.1f, 1.0f);
    add(name + ".bias", {384}, 0.1f);
  };
  const auto linear = [&](const std::string& name, std::size_t in, std::size_t out) {
    add(name + ".weight", {out, in}, 0.06f);
    add(name + ".bias", {out}, 0.1f);
  };
  add("embeddings.word_embeddings.weight", {30522, 384}, 0.035f);
  add("embeddings.position_embeddings.weight", {512, 384}, 0.035f);
  add("embeddings.token_type_embeddings.weight", {2, 384}, 0.035f);
  norm("embeddings.LayerNorm");
  for (int layer = 0; layer < 6; ++layer) {
    const std::string block = "encoder.layer." + std::to_string(layer) + ".";
    for (const char* name : {"query", "key", "value"}) {
      linear(block + "attention.self." + name, 384, 384);
    }
    linear(block + "attention.output.dense", 384, 384);
    norm(block + "attention.output.LayerNorm");
    linear(block + "intermediate.dense", 384, 1536);
    linear(block + "output.dense", 1536, 384);
    norm(block + "output.LayerNorm");
  }
  linear("pooler.dense", 384, 384);
  return load_model(std::move(weights),
                    R"({"model_type": "bert", "hidden_size": 384, "num_hidden_layers": 6,
                        "num_attention_heads": 12, "intermediate_size": 1536})",
                    Task::base);
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

enum class Sought { all_weights, embeddings };

struct Times {
  double forward = 0, backward = 0;
};

Times differentiated(Model& model, const ModelInputs& inputs, const Tensor& ids, Sought sought,
                     Gradient::Memory memory) {
  Gradient gradient;
  gradient.set_memory(memory);
  if (model.config().task == Task::causal_lm) {
    LabelLoss loss;
    loss.labels = ids.clone();
    gradient.add(std::move(loss));
  } else {
    Tensor one({1});
    *one.f32() = 1.0f;
    gradient.add_output({"last_hidden_state", std::move(one)});
  }
  if (sought == Sought::all_weights) gradient.want_weights("*");
  if (sought == Sought::embeddings) gradient.want("hook_embed");
  Trace trace;
  const auto pass = model.start_gradient(inputs, trace, gradient);
  const double start = processor_seconds();
  while (pass->step()) continue;
  const double turn = processor_seconds();
  while (pass->step_back()) continue;
  return {turn - start, processor_seconds() - turn};
}

void compare(const char* name, Model& model, std::size_t rows, std::size_t rounds) {
  Tensor ids({1, rows}, DType::i32);
  for (std::size_t i = 0; i < rows; ++i) {
    ids.mutable_view().as<std::int32_t>()[i] = static_cast<std::int32_t>(i * 7919 % 30000);
  }
  ModelInputs inputs;
  inputs.input_ids = ids.view();
  std::vector<double> plain, kept, all, frozen, frozen_kept, again;
  for (std::size_t round = 0; round <= rounds; ++round) {
    const double start = processor_seconds();
    model.forward(inputs);
    const double forward = processor_seconds() - start;
    using Memory = Gradient::Memory;
    const Times weights = differentiated(model, inputs, ids, Sought::all_weights, Memory::keep);
    const Times inputs_only = differentiated(model, inputs, ids, Sought::embeddings, Memory::keep);
    const Times twice = differentiated(model, inputs, ids, Sought::all_weights, Memory::recompute);
    if (round == 0) continue;  // first use of the memory
    plain.push_back(forward);
    kept.push_back(weights.forward);
    all.push_back(weights.backward);
    frozen_kept.push_back(inputs_only.forward);
    frozen.push_back(inputs_only.backward);
    again.push_back(twice.backward);
  }
  const double of = median(plain);
  std::printf(
      "%s %zu rows: forward %.1f ms; as a multiple of it: forward that keeps %.2f (%.2f), backward "
      "of "
      "all weights %.2f, of the embeddings %.2f, of all weights with layers computed twice %.2f\n",
      name, rows, 1e3 * of, median(kept) / of, median(frozen_kept) / of, median(all) / of,
      median(frozen) / of, median(again) / of);
  std::fflush(stdout);
}

}  // namespace
}  // namespace clearformer::bench

int main(int count, char** arguments) {
  using namespace clearformer::bench;
  const std::size_t rounds = count > 1 ? std::stoul(arguments[1]) : 5;
  const std::string only = count > 2 ? arguments[2] : "";
  std::vector<std::size_t> rows;
  for (int i = 3; i < count; ++i) rows.push_back(std::stoul(arguments[i]));
  if (rows.empty()) rows = {128, 512};
  if (only != "minilm") {
    const auto model = gpt2();
    for (const std::size_t each : rows) compare("GPT-2 small", *model, each, rounds);
  }
  if (only != "gpt2") {
    const auto model = minilm();
    for (const std::size_t each : rows) compare("MiniLM", *model, each, rounds);
  }
  return 0;
}
