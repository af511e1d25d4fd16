// Fails every allocation in turn in what differentiates a pass or changes a model: gradients, edits of weights, adapters,
// optimisers, copies of caches. A call that fails is made once more, then succeeds, and everything has the bits it has
// without a failure; nothing is leaked. CLEARFORMER_EVERY_ALLOCATION=1 tries all allocations, otherwise a selection.
#include <gtest/gtest.h>

#include <memory>
#include <new>

#include "allocation/failing_memory.h"
#include "allocation/subjects.h"
#include "clearformer/layers/optimizer.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/tensor/typed_memory.h"
#include "support/files.h"
#include "support/random.h"

namespace clearformer::test {
namespace {

// A model, and calls that are repeated when memory is refused.
class Changing {
 public:
  explicit Changing(const Subject& subject)
      : model_(from_pretrained(fixture_path(std::string("models/") + subject.folder))) {
    for (int i = 0; i < 4; ++i) ids_.mutable_view().as<std::int32_t>()[i] = 5 + 3 * i;
    if (subject.is("vit")) {
      inputs_.pixel_values = pixels_.view();
    } else {
      inputs_.input_ids = ids_.view();
    }
    if (subject.is("t5")) inputs_.decoder_input_ids = ids_.view();
    weight_ = model_->parameters().all().front().stored.name;
    for (const Parameter& parameter : model_->parameters().all()) {
      if (parameter.updates == nullptr || parameter.stored_shape.rank() != 2) continue;
      weight_ = parameter.stored.name;
      rows_ = parameter.stored_shape[0];
      columns_ = parameter.stored_shape[1];
      break;
    }
  }

  Model& model() { return *model_; }
  const ModelInputs& inputs() const { return inputs_; }
  const std::string& weight() const { return weight_; }
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  const Tensor& labels() const { return ids_; }

  void add(const TensorView& tensor) { digest_.add(tensor.data(), tensor.bytes()); }
  void pass() {
    again([&] {
      for (const auto& [name, tensor] : model_->forward(inputs_).tensors) add(tensor.view());
    });
  }
  // What `work` adds to the digest is taken once.
  template <class Work>
  void again(Work work) {
    const Digest before = digest_;
    try {
      return typed_memory(work);
    } catch (const Error& error) {
      stop_failing();
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      ++refused_;
    } catch (const std::bad_alloc&) {  // of a small call
      stop_failing();
      ++refused_;
    }
    digest_ = before;
    typed_memory(work);
  }
  std::uint64_t sum() const { return digest_.sum(); }
  std::size_t refused() const { return refused_; }

 private:
  std::unique_ptr<Model> model_;
  Tensor ids_{{1, 4}, DType::i32};
  Tensor pixels_ = Random(3).tensor({1, 1, 20, 20}, -1.0f, 1.0f);
  ModelInputs inputs_;
  std::string weight_;
  std::size_t rows_ = 0, columns_ = 0;
  Digest digest_;
  std::size_t refused_ = 0;
};

void differentiate_all(Changing& changing) {
  changing.again([&] {
    Gradient gradient;
    gradient.add_output({changing.model().forward(changing.inputs()).tensors.front().first,
                         Random(1).tensor({1}, 1.0f, 2.0f)});
    gradient.want("*hook_resid_post");
    gradient.want_weights("*");
    Trace trace;
    trace.capture("*hook_z");
    changing.model().gradient(changing.inputs(), trace, gradient);
    for (const Trace::Captured& found : gradient.found()) changing.add(found.value.view());
    for (const Parameters::Listed& listed : changing.model().parameters().list()) {
      changing.add(changing.model().weight_gradient(gradient, listed.name).view());
    }
  });
}

void edit_and_undo(Changing& changing) {
  Model& model = changing.model();
  changing.again([&] {
    const Tensor row = Random(2).tensor({1, 3}, -1.0f, 1.0f);
    model.edit_parameter(changing.weight(),
                         {ParameterEdit::Op::replace, row, {}, {{1, 2}, {1, 3}}});
  });
  changing.again([&] {
    const Tensor one = Random(3).tensor({1}, 1.5f, 2.0f);
    model.edit_parameter(changing.weight(), {ParameterEdit::Op::scale, one});
  });
  const auto read = [&] {
    changing.add(Parameters::read(model.parameter(changing.weight())).view());
  };
  changing.again(read);
  changing.pass();
  changing.again([&] { model.undo_edits(2); });
  changing.again(read);
}

void adapt_and_train(Changing& changing) {
  Model& model = changing.model();
  changing.again([&] {
    std::vector<AdapterUpdate> updates;
    updates.push_back({changing.weight(), "x",
                       Random(4).tensor({2, changing.columns()}, -1.0f, 1.0f),
                       Random(5).tensor({changing.rows(), 2}, -1.0f, 1.0f), 0.5f});
    model.add_adapter("a", std::move(updates));
  });
  changing.again([&] { model.use_adapters({{"a", 2.0f}}); });
  changing.pass();
  std::unique_ptr<Optimizer> adapter, all;
  changing.again([&] {
    adapter = std::make_unique<Sgd>(model.adapters().parameters("a").all(), SgdOptions{0.1, 0.5});
    all = std::make_unique<AdamW>(model.parameters().all());
  });
  for (Optimizer* optimizer : {adapter.get(), all.get()}) {
    std::unique_ptr<Gradient> gradient;
    changing.again([&] {
      gradient = std::make_unique<Gradient>();
      gradient->add_output({model.forward(changing.inputs()).tensors.front().first,
                            Random(1).tensor({1}, 1.0f, 2.0f)});
      gradient->want_adapter("a");
      gradient->want_weights("*");
      Trace trace;
      model.gradient(changing.inputs(), trace, *gradient);
    });
    changing.again([&] { optimizer->clip_grad_norm(gradient->weights(), 1.0); });
    changing.again([&] { optimizer->step(gradient->weights()); });
    changing.pass();
  }
  changing.again([&] { model.use_adapters({}); });
  changing.pass();
  changing.again([&] { model.remove_adapter("a"); });
}

struct Change {
  const char* name;
  void (*work)(Changing&);
};
constexpr Change kChanges[] = {{"differentiate", differentiate_all},
                               {"edit", edit_and_undo},
                               {"adapt_and_train", adapt_and_train}};

class EveryAllocationOfAChange : public ::testing::TestWithParam<std::tuple<Subject, Change>> {};

TEST_P(EveryAllocationOfAChange, IsRepeatedAfterAFailure) {
  const auto& [subject, change] = GetParam();
  std::uint64_t expected = 0;
  std::size_t before = 0, refused = 0;
  // Whether there were fewer allocations.
  const auto whole = [&, &subject = subject, &change = change](std::size_t which, Failing how) {
    Changing changing(subject);
    changing.pass();
    fail_allocations(which, how);
    change.work(changing);
    const bool fewer = allocations() < which;
    stop_failing();
    changing.pass();
    if (expected == 0) expected = changing.sum();
    EXPECT_EQ(changing.sum(), expected) << "allocation " << which;
    refused += changing.refused();
    return fewer;
  };
  constexpr std::size_t kNever = ~std::size_t{0};
  EXPECT_TRUE(whole(kNever, Failing::once));
  before = live_bytes();
  for (const Failing how : {Failing::once, Failing::from_on}) {
    for (std::size_t which = 1; !HasFailure() && !whole(which, how); which += stride(101)) {
      EXPECT_EQ(live_bytes(), before) << "allocation " << which;
    }
  }
  EXPECT_GT(refused, 3u);
}

INSTANTIATE_TEST_SUITE_P(Subjects, EveryAllocationOfAChange,
                         ::testing::Combine(::testing::ValuesIn(kSubjects),
                                            ::testing::ValuesIn(kChanges)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace clearformer::test
