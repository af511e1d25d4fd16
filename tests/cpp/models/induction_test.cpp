// A model trained to have induction heads (scripts/models/train_induction.py): its heads' scores and maps
// against transformers, also with the previous-token head ablated.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/checkpoint.h"
#include "support/closeness.h"
#include "support/files.h"
#include "support/fixture.h"
#include "support/model_runs.h"

namespace clearformer::test {
namespace {

/// Whether key j of query i is one of a kind, in a row of tokens.
using Kind = bool (*)(const std::int32_t* row, std::size_t i, std::size_t j);

bool is_previous(const std::int32_t*, std::size_t i, std::size_t j) { return j + 1 == i; }
bool is_first(const std::int32_t*, std::size_t i, std::size_t j) { return j == 0 && i > 0; }
bool is_duplicate(const std::int32_t* row, std::size_t i, std::size_t j) {
  return j < i && row[j] == row[i];
}
bool follows_the_same(const std::int32_t* row, std::size_t i, std::size_t j) {
  return j > 0 && j <= i && row[j - 1] == row[i];
}

const std::pair<const char*, Kind> kKinds[] = {{"previous_token", is_previous},
                                               {"first_token", is_first},
                                               {"duplicate_token", is_duplicate},
                                               {"induction", follows_the_same}};

struct Scores {
  std::vector<double> values;  // (H)
  double most_keys = 0.0;      // per query
};

/// A query's attention to all keys of the kind, averaged over the queries that have one.
Scores scores_of(const Tensor& pattern, const Tensor& ids, Kind kind) {
  const std::size_t heads = pattern.dim(1), length = pattern.dim(2);
  Scores scores{std::vector<double>(heads)};
  double queries = 0.0;
  for (std::size_t row = 0; row < ids.dim(0); ++row) {
    const std::int32_t* tokens = ids.view().as<std::int32_t>() + row * length;
    for (std::size_t i = 0; i < length; ++i) {
      double keys = 0.0;
      for (std::size_t j = 0; j < length; ++j) {
        if (!kind(tokens, i, j)) continue;
        ++keys;
        for (std::size_t head = 0; head < heads; ++head) {
          scores.values[head] += pattern.f32()[((row * heads + head) * length + i) * length + j];
        }
      }
      queries += keys > 0.0 ? 1.0 : 0.0;
      scores.most_keys = std::max(scores.most_keys, keys);
    }
  }
  for (double& value : scores.values) value /= queries;
  return scores;
}

/// Each weight of a map may be off by the bound of models; a score is a mean of sums of that many.
Bound score_bound(double most_keys) {
  return {most_keys * (kModelBound.absolute + kModelBound.of_largest), kRoundoff, 0.0};
}

struct Repetitions {
  double loss = 0.0, accuracy = 0.0;
};

/// Mean loss and accuracy of the predictions at tokens that occurred before, whose successor is known.
Repetitions predicted(const Tensor& logits, const Tensor& ids) {
  const std::size_t length = ids.dim(1), vocabulary = logits.dim(2);
  Repetitions found;
  double count = 0.0;
  for (std::size_t row = 0; row < ids.dim(0); ++row) {
    const std::int32_t* tokens = ids.view().as<std::int32_t>() + row * length;
    for (std::size_t i = 0; i + 1 < length; ++i) {
      if (std::find(tokens, tokens + i, tokens[i]) == tokens + i) continue;
      const float* scores = logits.f32() + (row * length + i) * vocabulary;
      const float* best = std::max_element(scores, scores + vocabulary);
      const auto wanted = static_cast<std::size_t>(tokens[i + 1]);
      double sum = 0.0;
      for (std::size_t token = 0; token < vocabulary; ++token) {
        sum += std::exp(static_cast<double>(scores[token]) - *best);
      }
      found.loss += std::log(sum) + *best - scores[wanted];
      found.accuracy += best == scores + wanted ? 1.0 : 0.0;
      ++count;
    }
  }
  return {found.loss / count, found.accuracy / count};
}

/// log softmax changes by at most twice as much as the logits.
double loss_bound(const Tensor& logits) {
  double largest = 0.0;
  for (std::size_t i = 0; i < logits.elements(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(logits.f32()[i])));
  }
  return 2.0 * (kModelBound.absolute + kModelBound.of_largest * largest);
}

class Induction : public ::testing::Test {
 protected:
  static const Case& reference(const std::string& name) {
    static const Fixture fixture("induction");
    return fixture.at(name);
  }
  static void silence(Trace& trace, std::size_t layer, std::vector<std::size_t> heads) {
    trace.edit(concat("blocks.", layer, ".attn.hook_z"),
               [heads](std::string_view, MutableTensorView z) {  // (B, T, H, d)
                 const std::size_t all = z.dim(2), size = z.dim(3);
                 for (std::size_t at = 0; at < z.dim(0) * z.dim(1); ++at) {
                   for (std::size_t head : heads) {
                     std::fill_n(z.f32() + (at * all + head) * size, size, 0.0f);
                   }
                 }
               });
  }
  /// Checks maps, scores, loss and accuracy of a run against the case.
  void expect_run(const Case& expected, Trace& trace) {
    trace.capture("blocks.*.attn.hook_pattern");
    const Tensor logits = forward(*model, ids, &trace);
    expect_close("logits", logits, expected.output("logits"), kModelBound);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      const Tensor& pattern = trace.at(concat("blocks.", layer, ".attn.hook_pattern"));
      const std::string name = concat("attentions.", layer);
      if (expected.has_output(name)) {
        expect_close(name, pattern, expected.output(name), kModelBound);
      }
      for (const auto& [kind, is_key] : kKinds) {
        const Scores scores = scores_of(pattern, ids, is_key);
        const float* wanted = expected.output(kind).f32() + layer * 4;
        expect_close(concat(kind, " of layer ", layer), scores.values,
                     std::vector<double>(wanted, wanted + 4), score_bound(scores.most_keys));
      }
    }
    expect_repetitions(logits, expected.output("loss").f32()[0],
                       expected.output("accuracy").f32()[0]);
  }
  void expect_repetitions(const Tensor& logits, double loss, double accuracy) {
    const Repetitions found = predicted(logits, ids);
    EXPECT_NEAR(found.loss, loss, loss_bound(logits) + kRoundoff * loss);
    EXPECT_NEAR(found.accuracy, accuracy, kRoundoff);  // the same predictions: see smallest_margin
  }
  /// The highest score of a layer's heads.
  double best(const Trace& trace, std::size_t layer, Kind kind) const {
    const Tensor& pattern = trace.at(concat("blocks.", layer, ".attn.hook_pattern"));
    const std::vector<double> scores = scores_of(pattern, ids, kind).values;
    return *std::max_element(scores.begin(), scores.end());
  }

  std::unique_ptr<Model> model = load_folder(fixture_path("induction/model"));
  Tensor ids = reference("heads").int32_input("input_ids");
};

TEST_F(Induction, TheHeadsScoresAreTheReferences) {
  Trace trace;
  expect_run(reference("heads"), trace);
}

TEST_F(Induction, TheModelHasAHeadForThePreviousTokenAndOneForInduction) {
  Trace trace;
  trace.capture("*hook_pattern");
  const Tensor logits = forward(*model, ids, &trace);
  EXPECT_GT(best(trace, 0, is_previous), 0.5);
  EXPECT_LT(best(trace, 0, follows_the_same), 0.2);
  EXPECT_GT(best(trace, 1, follows_the_same), 0.8);
  EXPECT_GT(predicted(logits, ids).accuracy, 0.99);
}

TEST_F(Induction, WithoutTheHeadForThePreviousTokenThereIsNone) {
  const std::pair<const char*, bool> cases[] = {{"without_previous_token_head", false},
                                                {"without_another_head", true}};
  for (const auto& [name, remains] : cases) {
    SCOPED_TRACE(name);
    const Case& expected = reference(name);
    std::vector<std::size_t> heads;
    for (const Json& head : expected.option("heads").array()) {
      heads.push_back(static_cast<std::size_t>(head.number()));
    }
    Trace trace;
    silence(trace, 0, heads);
    expect_run(expected, trace);
    EXPECT_EQ(best(trace, 1, follows_the_same) > 0.8, remains);
    EXPECT_EQ(best(trace, 1, follows_the_same) < 0.2, !remains);
  }
}

TEST_F(Induction, EachHeadSilencedAloneCostsWhatItCostsTheReference) {
  const Case& sweep = reference("every_head");
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 4; ++head) {
      SCOPED_TRACE(concat("layer ", layer, ", head ", head));
      Trace trace;
      silence(trace, layer, {head});
      expect_repetitions(forward(*model, ids, &trace),
                         sweep.output("losses").f32()[layer * 4 + head],
                         sweep.output("accuracies").f32()[layer * 4 + head]);
    }
  }
}

}  // namespace
}  // namespace clearformer::test
