#include "clearformer/layers/scoring.h"

#include <algorithm>
#include <cmath>

#include "clearformer/kernels/matmul.h"
#include "clearformer/kernels/packed_matrix.h"
#include "clearformer/kernels/panel_gradient.h"
#include "clearformer/layers/functional.h"

namespace clearformer {

namespace {

constexpr std::string_view kScoring = "attention";

// The operands of a scoring function, and its parameters by name.
struct ScoringCall {
  const Scoring& scoring;
  TensorView queries, keys;

  const Tensor& tensor(std::string_view name) const {
    const auto found = scoring.parameters.find(std::string(name));
    if (found != scoring.parameters.end()) return found->second;
    fail(ErrorCode::invalid_argument, kScoring, ": score ", scoring.name, " needs ", name);
  }
  float number(std::string_view name, float fallback) const {
    if (scoring.parameters.find(std::string(name)) == scoring.parameters.end()) return fallback;
    const Tensor& value = tensor(name);
    if (value.elements() == 1) return *value.f32();
    fail(ErrorCode::shape_mismatch, kScoring, ": ", name, " of shape ", value.shape().text(),
         " is no number");
  }
};

// x (B, H, T, d)·Wᵀ (h, d) -> (B, H, T, h)
Tensor projected(const ScoringCall& call, const TensorView& x, std::string_view name) {
  const Tensor& weight = call.tensor(name);
  if (weight.shape().rank() != 2 || weight.dim(1) != x.dim(3)) {
    fail(ErrorCode::shape_mismatch, kScoring, ": ", name, " of shape ", weight.shape().text(),
         ", expected [hidden size, ", x.dim(3), "]");
  }
  Tensor result({x.dim(0), x.dim(1), x.dim(2), weight.dim(0)});
  kernels::PackedMatrix(weight.clone()).multiply(x.f32(), result.f32(), x.shape().outer(1), {});
  return result;
}

PreparedScoring dot(const ScoringCall& call) {
  PreparedScoring prepared;
  prepared.spec.scale = call.number("scale", 1.0f);
  return prepared;
}

PreparedScoring scaled_dot(const ScoringCall& call) {
  const auto width = static_cast<double>(std::max<std::size_t>(call.keys.dim(3), 1));
  PreparedScoring prepared;
  prepared.spec.scale = call.number("scale", static_cast<float>(1.0 / std::sqrt(width)));
  return prepared;
}

PreparedScoring general(const ScoringCall& call) {
  const Tensor& m = call.tensor("M");
  if (m.shape().rank() != 2 || m.dim(0) != call.queries.dim(3) || m.dim(1) != call.keys.dim(3)) {
    fail(ErrorCode::shape_mismatch, kScoring, ": M has shape ", m.shape().text(), ", expected [",
         call.queries.dim(3), ", ", call.keys.dim(3), "] (query size, key size)");
  }
  PreparedScoring prepared = dot(call);
  prepared.queries = matmul(call.queries, m);
  return prepared;
}

PreparedScoring additive(const ScoringCall& call) {
  PreparedScoring prepared = dot(call);
  prepared.queries = projected(call, call.queries, "W_q");
  prepared.keys = projected(call, call.keys, "W_k");
  prepared.weights = call.tensor("w_v").clone();
  const std::size_t hidden = prepared.queries->dim(3);
  const Shape& vector = prepared.weights.shape();
  if (prepared.keys->dim(3) != hidden || !(vector == Shape{hidden} || vector == Shape{1, hidden})) {
    fail(ErrorCode::shape_mismatch, kScoring, ": W_q has ", hidden, " rows, W_k ",
         prepared.keys->dim(3), ", w_v the shape ", vector.text(), "; they must fit");
  }
  prepared.spec.pairwise = kernels::additive_scores;
  prepared.spec.weights = prepared.weights.f32();
  return prepared;
}

PreparedScoring distance(const ScoringCall& call) {
  const double sigma = call.number("sigma", 1.0f);
  if (!(sigma > 0.0)) {
    fail(ErrorCode::invalid_argument, kScoring, ": sigma must be > 0, it is ", sigma);
  }
  PreparedScoring prepared;
  prepared.spec.pairwise = kernels::squared_distances;
  prepared.spec.scale = static_cast<float>(-0.5 / (sigma * sigma));
  return prepared;
}

struct ScoringFunction {
  const char* name;
  const char* parameters[5];  // the rest null
  PreparedScoring (*prepare)(const ScoringCall&);
};

constexpr ScoringFunction kFunctions[] = {
    {"scaled_dot", {"scale"}, scaled_dot}, {"dot", {"scale"}, dot},
    {"general", {"M", "scale"}, general},  {"additive", {"W_q", "W_k", "w_v", "scale"}, additive},
    {"distance", {"sigma"}, distance},
};

void check_parameters(const ScoringFunction& function, const Scoring& scoring) {
  for (const auto& [name, value] : scoring.parameters) {
    const bool known = std::any_of(std::begin(function.parameters), std::end(function.parameters),
                                   [&name = name](const char* parameter) {
                                     return parameter != nullptr && name == parameter;
                                   });
    if (!known) {
      fail(ErrorCode::invalid_argument, kScoring, ": score ", scoring.name, " takes no ", name);
    }
  }
}

// aᵀ·b of rows a (…, N) and b (…, K): (N, K)
Tensor outer_sum(const TensorView& a, const TensorView& b, Arena& arena) {
  const std::size_t outputs = a.shape().back(0), inputs = b.shape().back(0);
  kernels::PanelGradient sums(outputs, inputs);
  sums.add_outer(a.f32(), b.f32(), a.shape().outer(1), arena);
  Tensor result({outputs, inputs});
  for (std::size_t row = 0; row < outputs; ++row) sums.copy_row(row, result.f32() + row * inputs);
  return result;
}

// The backward pass of projected(): d (…, h) becomes the gradient of x.
void projected_back(const ScoringCall& call, std::string name, const TensorView& x, Tensor& d,
                    ScoringGradients& to, Arena& arena) {
  Tensor dx(x.shape());
  kernels::PackedMatrix(call.tensor(name).clone())
      .multiply_transposed(d.f32(), dx.f32(), x.shape().outer(1), nullptr, arena);
  to.parameters.emplace(std::move(name), outer_sum(d, x, arena));
  d = std::move(dx);
}

}  // namespace

Scoring& Scoring::set(std::string parameter, Tensor value) & {
  parameters.insert_or_assign(std::move(parameter), std::move(value));
  return *this;
}

Scoring& Scoring::set(std::string parameter, float value) & {
  Tensor scalar(Shape{});
  *scalar.f32() = value;
  return set(std::move(parameter), std::move(scalar));
}

PreparedScoring prepare(const Scoring& scoring, const TensorView& queries, const TensorView& keys) {
  for (const ScoringFunction& function : kFunctions) {
    if (scoring.name != function.name) continue;
    check_parameters(function, scoring);
    return function.prepare({scoring, queries, keys});
  }
  fail(ErrorCode::unsupported, kScoring, ": score \"", scoring.name, "\" is not known");
}

void prepared_back(const Scoring& scoring, const TensorView& queries, const TensorView& keys,
                   ScoringGradients& gradients, Arena& arena) {
  const ScoringCall call{scoring, queries, keys};
  if (scoring.name == "additive") {
    projected_back(call, "W_q", queries, gradients.queries, gradients, arena);
    projected_back(call, "W_k", keys, gradients.keys, gradients, arena);
    gradients.parameters.emplace("w_v", std::move(gradients.weights));
  } else if (scoring.name == "general") {
    // The keys met q' = q·M: dM = qᵀ·dq', dq = dq'·Mᵀ.
    gradients.parameters.emplace("M", outer_sum(queries, gradients.queries, arena));
    gradients.queries = projected(call, gradients.queries, "M");
  }
}

}  // namespace clearformer
