// The exported functions of the WebAssembly module that border_allocation_test.cpp does not call. Fails every allocation in
// turn: a call that is refused is made once more, then succeeds, and all results have the bits they have without a failure;
// nothing is leaked. tests/web/border.test.ts fails for a function that neither file calls.
#include "allocation/border_plain_calls.h"
#include "allocation/border_session.h"

namespace clearformer::test {
namespace {

// A model that was loaded before allocations fail, and what is done with it.
struct Life {
  Session& session;
  const Files& files;
  val created;
  Results& results;

  val model() const { return created["model"]; }
  bool is(const char* name) const { return files.subject().is(name); }
  bool predicts() const { return files.subject().generates; }
  Members given(const char* more) const {
    return files.inputs().with("model", model()).with(Members(more));
  }
  // A plain pass.
  void pass() const { results.add(session.again<bindings::model_forward>(given("({})"))); }
};

const char* kWeight[] = {
    "model.layers.0.self_attn.q_proj.weight", "encoder.layer.0.attention.self.query.weight",
    "decoder.block.0.layer.0.SelfAttention.q.weight", "layers.0.attention.q_proj.weight"};

// A weight of two axes of the subject.
const char* weight_of(const Life& life) {
  for (std::size_t i = 0; i < std::size(kSubjects); ++i) {
    if (life.is(kSubjects[i].name)) return kWeight[i];
  }
  return "";
}

// What is captured, edited and computed by functions, of blocks of any subject.
constexpr const char* kObserved =
    "({ names: ['*hook_resid_pre'], output_hidden_states: true,"
    " parts: [{ hook: '*0.hook_resid_post', positions: [0, 1], reduction: 'top_k', over: "
    "['feature'], k: 2 }],"
    " fwd_hooks: [{ hook: '*1.hook_resid_pre', call: (_, { data }) => data.map((x) => 2 * x) }],"
    " edits: [{ hook: '*0.hook_resid_post', op: 'add', value: F(1) },"
    " { hook: '*1.hook_resid_post', op: 'clamp', min: F(1), positions: [1] }] })";

void observe(Life& life) {
  Session& session = life.session;
  const Members observed = life.given(kObserved);
  const Members paced = Members().with(observed).with("yield_after_ms", 0.0);
  val value = val::object();
  do {
    value = session.again<bindings::model_forward>(paced);
  } while (value["pending"].isTrue());
  life.results.add(value);
  session.again<bindings::model_forward>(paced);
  session.again<bindings::model_forward>(Members().with(paced).with("abandon", val(true)));
  life.results.add(session.again<bindings::model_forward>(life.given("({ stop_at_layer: 1 })")));
  if (!life.predicts()) return;
  life.results.add(
      session.again<bindings::model_forward>(life.given("({ logits_to_keep: [-1, 0] })")));
  Members embedded = life.given("({})");
  embedded.with("input_ids", val::undefined());
  embedded.with(Members(life.is("t5") ? "({ inputs_embeds: F(1, 4, 32) })"
                                      : "({ inputs_embeds: F(1, 4, 30) })"));
  life.results.add(session.again<bindings::model_forward>(embedded));
  if (!life.is("llama")) return;
  embedded.with(
      Members("({ inputs_embeds: undefined, residual: F(1, 4, 30), start_at_layer: 1 })"));
  life.results.add(session.again<bindings::model_forward>(embedded));
}

void differentiate(Life& life) {
  const char* metric =
      life.predicts()
          ? "({ losses: [{ labels: I([1, 4], 1, 2, 3, -100), label_smoothing: 0.1, weight: 1 }],"
            " logit_places: I([2, 3], 0, -1, 5, 0, 1, 7), logit_weights: F(2),"
            " output_terms: [{ name: 'logits', weights: F(1) }] })"
          : "({ output_terms: [{ name: 'last_hidden_state', weights: F(1) }] })";
  const char* sought =
      "({ hook_terms: [{ name: 'blocks.0.hook_resid_mid', weights: F(1) }], wanted_edits: [1],"
      " bwd_hooks: [{ hook: '*0.hook_resid_pre', call: (_, { data }) => data.map((x) => 2 * x) }] "
      "})";
  Members given = life.given(kObserved).with(Members(metric)).with(Members(sought));
  // A function that changes something has no gradient.
  given.with(
      Members("({ fwd_hooks: [{ hook: '*1.hook_resid_pre', call: (_, { data }) => data }] })"));
  if (life.is("t5")) given.with("hook_terms", val::array());
  const val names = val::array();
  names.call<void>("push", val::u8string(weight_of(life)));
  given.with("wanted_weights", names);
  const val wanted = val::array();
  wanted.call<void>("push", val::u8string("*hook_resid_post"));
  wanted.call<void>("push", val::u8string(life.is("vit")  ? "pixel_values"
                                          : life.is("t5") ? "encoder.inputs_embeds"
                                                          : "inputs_embeds"));
  given.with("wanted", wanted);
  life.results.add(life.session.again<bindings::model_gradient>(given));
  given.with("yield_after_ms", 0.0);
  val value = val::object();
  do {
    value = life.session.again<bindings::model_gradient>(given);
  } while (value["pending"].isTrue());
  life.results.add(value);
  life.session.again<bindings::model_gradient>(given);
  life.session.again<bindings::model_gradient>(Members().with(given).with("abandon", val(true)));
}

void edit_weights(Life& life) {
  Session& session = life.session;
  const Members model = Members().with("model", life.model());
  const Members named = Members().with(model).with("name", weight_of(life));
  EXPECT_GT(session.again<bindings::parameter_list>(model)["parameters"]["length"].as<int>(), 9);
  life.results.add(session.again<bindings::parameter_read>(named));
  const char* edits[] = {"({ op: 'replace', value: F(2, 3), at: [0, 2, -3, 9007199254740991] })",
                         "({ op: 'scale', value: F(1), at: [] })",
                         "({ op: 'rank_one', value: F(2), right: F(4), at: [1, 3, 0, 4] })"};
  for (const char* edit : edits) {
    Members given;
    session.again<bindings::parameter_edit>(given.with(Members(edit)).with(named));
    life.results.add(session.again<bindings::parameter_read>(named));
  }
  life.pass();
  Members undo;
  session.again<bindings::parameter_undo>(undo.with(model).with("count", 2));
  life.results.add(session.again<bindings::parameter_read>(named));
  session.again<bindings::parameter_undo>(model);
  if (!life.predicts()) return;
  Members lens;
  lens.with(model).with(Members("({ tokens: I([2], 3, 4), layer: 1, normalize: true })"));
  lens.with(Members(life.is("t5") ? "({ x: F(1, 2, 32), directions: F(2, 32), cross: true })"
                                  : "({ x: F(1, 2, 30), directions: F(2, 30), mode: 'Q' })"));
  life.results.add(session.again<bindings::model_unembed>(lens));
  life.results.add(session.again<bindings::model_logit_directions>(lens));
  life.results.add(session.again<bindings::model_head_directions>(lens));
  if (!life.is("llama")) return;
  life.results.add(session.again<bindings::composition_scores>(lens));
  lens.with(Members("({ name: 'blocks.0.attn.W_Q', fold_ln: true })"));
  life.results.add(session.again<bindings::parameter_read>(lens));
}

// The file of an adapter of rank 2 of one square weight of `width`: A and B, with small numbers.
std::string adapter_file(std::size_t width) {
  const std::size_t bytes = 2 * width * sizeof(float);
  const auto entry = [&](const char* half, std::size_t rows, std::size_t columns, std::size_t at) {
    return "\"x.lora_" + std::string(half) + ".weight\":{\"dtype\":\"F32\",\"shape\":[" +
           std::to_string(rows) + "," + std::to_string(columns) + "],\"data_offsets\":[" +
           std::to_string(at) + "," + std::to_string(at + bytes) + "]}";
  };
  std::string header = "{" + entry("A", 2, width, 0) + "," + entry("B", width, 2, bytes) + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::vector<float> numbers(4 * width);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 0.125f * static_cast<float>(i % 5) - 0.25f;
  }
  const std::uint64_t length = header.size();
  std::string file(reinterpret_cast<const char*>(&length), sizeof length);
  file += header;
  file.append(reinterpret_cast<const char*>(numbers.data()), 2 * bytes);
  return file;
}

void add_adapter(Life& life, const std::string& file) {
  Session& session = life.session;
  const Members opening("({ dtype: 'fp32' })");
  const val checkpoint =
      session.keep(session.call<bindings::checkpoint_open>(opening)["checkpoint"]);
  Files::read(session, checkpoint, "adapter_model.safetensors", file);
  const val updates = val::array();
  updates.call<void>(
      "push",
      Members().with("weight", weight_of(life)).with("name", "x").with("scale", 0.5).object());
  session.call<bindings::adapter_add>(Members()
                                          .with("model", life.model())
                                          .with("adapter", "a")
                                          .with("checkpoint", checkpoint)
                                          .with("updates", updates));
}

// Backward, clipping and steps of an optimiser.
void train(Life& life, const char* options) {
  Session& session = life.session;
  Members creating(
      "({ warmup_steps: 1, steps: 9, lr: 0.01, beta1: 0.9, beta2: 0.99, eps: 1e-8, momentum: 0.5,"
      " dampening: 0, weight_decay: 0.1, nesterov: false, parameters: ['*'] })");
  creating.with("model", life.model()).with(Members(options));
  const val optimizer = session.keep(session.attempt(
      [&] { return session.call<bindings::optimizer_create>(creating)["optimizer"]; }));
  Members given =
      life.given("({ labels: I([1, 4], 1, 2, 3, 4), label_smoothing: 0, max_norm: 1 })");
  given.with("optimizer", optimizer).with("lr", 0.01);
  for (int step = 0; step < 2; ++step) {
    session.again<bindings::optimizer_backward>(given);
    session.again<bindings::optimizer_clip>(given);
    session.again<bindings::optimizer_step>(given);
  }
  life.pass();
}

void adapt(Life& life) {
  Session& session = life.session;
  const Members model = Members().with("model", life.model());
  static const std::string narrow = adapter_file(30), wide = adapter_file(32);
  session.attempt([&] {
    add_adapter(life, life.is("t5") ? wide : narrow);
    return 0;
  });
  const Members use("({ adapter: 'a', adapters: [{ adapter: 'a', scale: 2 }] })");
  Members given;
  session.again<bindings::adapter_use>(given.with(model).with(use));
  life.pass();
  session.again<bindings::parameter_list>(given);
  life.results.add(session.again<bindings::parameter_read>(
      Members().with(given).with("name", "x.lora_B.weight")));
  if (life.predicts()) train(life, "({ kind: 'SGD', adapter: 'a', schedule: 'linear' })");
  session.again<bindings::adapter_remove>(given);
  life.pass();
}

void train_all(Life& life) {
  if (life.predicts()) train(life, "({ kind: 'AdamW', schedule: 'cosine' })");
}

void keep_and_generate(Life& life) {
  if (!life.predicts()) return;
  Session& session = life.session;
  const val cache = session.keep(session.attempt([&] {
    const val value = session.call<bindings::model_forward>(life.given("({ use_cache: true })"));
    life.results.add(value["outputs"]);
    return value["past_key_values"];
  }));
  Members whole("({ rows: [0, 0], length: 4, first_layer: 0, more: 8 })");
  whole.with("cache", cache);
  const val copy = session.keep(session.again<bindings::cache_copy>(whole)["cache"]);
  session.again<bindings::cache_crop>(Members("({ length: 3 })").with("cache", copy));
  const Members copied = Members().with("cache", copy);
  EXPECT_EQ(session.again<bindings::cache_info>(copied)["length"].as<int>(), 3);
  const Members options(
      "({ options: { max_new_tokens: 3, num_return_sequences: 2, do_sample: true, seed: 1 },"
      " hold_scores: true, decoder_input_ids: undefined })");
  session.attempt([&] {
    const val generation = session.keep(
        session.call<bindings::generation_create>(life.given("({})").with(options))["generation"]);
    Members step = Members().with("generation", generation);
    for (val value = val::object(); !value["done"].isTrue();) {
      value = session.call<bindings::generation_step>(step);
      step.with("changed_scores", value["held_scores"]);
    }
    life.results.add(session.call<bindings::generation_result>(step)["sequences"]);
    session.keep(session.call<bindings::generation_cache>(step)["past_key_values"]);
    session.call<bindings::generation_end>(step.with(Members("({ rows: I([1], 0) })")));
    return 0;
  });
}

void compute_plain(Life& life) {
  Session& session = life.session;
  for (const auto& [function, arguments] : kPlain) {
    const Members given(arguments);
    const auto call = [&] { return session.call(function, given); };
    life.results.add(session.attempt(call));
  }
  Members spectrogram(
      "({ samples: F(4000), feature_size: 8, sampling_rate: 16000, hop_length: 10, n_fft: 400, "
      "padding_value: 0,"
      " yield_after_ms: 0 })");
  val value = val::object();
  do {
    value = session.again<bindings::log_mel_spectrogram>(spectrogram);
  } while (value["pending"].isTrue());
  life.results.add(value);
  session.again<bindings::model_check>(life.files.described());
  const Members creating(
      "({ kind: 'nn.Linear', options: { in_features: 3, out_features: 2 }, tensors: { weight: F(2, "
      "3), bias: F(2) } })");
  const val module = session.keep(
      session.attempt([&] { return session.call<bindings::module_create>(creating)["module"]; }));
  Members run("({ tensors: { input: F(2, 3) }, masks: {}, names: ['*'] })");
  life.results.add(session.again<bindings::module_forward>(run.with("module", module)));
  run.with(Members("({ grad_output: F(2, 2), wanted_weights: ['*'] })"));
  life.results.add(session.again<bindings::module_backward>(run));
}

struct Use {
  const char* name;
  void (*live)(Life&);
  bool of_models;
};
constexpr Use kUses[] = {
    {"observe", observe, true},           {"differentiate", differentiate, true},
    {"edit_weights", edit_weights, true}, {"adapt", adapt, true},
    {"train", train_all, true},           {"generate", keep_and_generate, true},
    {"compute", compute_plain, false}};

// The hash of all results of a use with one failing allocation, and the number of calls refused.
struct Ending {
  std::uint64_t sum;
  std::size_t refused;
  bool whole;  // there were fewer allocations
};

Ending ending_of(const Files& files, const Use& use, std::size_t which, Failing how) {
  Session session;
  Results results;
  Life life{session, files, files.model(session), results};
  life.pass();
  fail_allocations(which, how);
  use.live(life);
  const bool whole = allocations() < which;
  stop_failing();
  life.pass();
  return {results.sum(), session.refused(), whole};
}

class EveryCallOfTheBorder : public ::testing::TestWithParam<std::tuple<Subject, Use>> {};

TEST_P(EveryCallOfTheBorder, IsRepeatedAfterAFailedAllocation) {
  const auto& [subject, use] = GetParam();
  if (!use.of_models && !subject.is("llama")) return;
  const Files files(subject);
  constexpr std::size_t kNever = ~std::size_t{0};
  Ending expected{0, 0, false};
  try {
    expected = ending_of(files, use, kNever, Failing::once);
  } catch (const Refused& refusal) {
    FAIL() << refusal.code;
  }
  const std::size_t before = live_bytes();
  std::size_t refused = 0;
  for (const Failing how : {Failing::once, Failing::from_on}) {
    Ending ending{0, 0, false};
    for (std::size_t which = 1; !ending.whole && !HasFailure(); which += stride(29)) {
      try {
        ending = ending_of(files, use, which, how);
        EXPECT_EQ(ending.sum, expected.sum) << "allocation " << which;
      } catch (const Refused& refusal) {
        ADD_FAILURE() << refusal.code << " at allocation " << which;
      }
      EXPECT_EQ(live_bytes(), before) << "allocation " << which;
      refused += ending.refused;
    }
  }
  const bool only_of_words = use.live == train_all || use.live == keep_and_generate;
  if (!only_of_words || subject.generates) {
    EXPECT_GT(refused, 3u);
  }
}

INSTANTIATE_TEST_SUITE_P(Uses, EveryCallOfTheBorder,
                         ::testing::Combine(::testing::ValuesIn(kSubjects),
                                            ::testing::ValuesIn(kUses)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace clearformer::test
