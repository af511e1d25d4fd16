#include "clearformer/layers/delta_state.h"

#include <cstring>

#include "clearformer/layers/encoder.h"

namespace clearformer {

namespace {

Tensor sequences_of(const Tensor& from, std::span<const std::size_t> rows) {
  Shape shape = from.shape();
  const std::size_t size = from.elements() / shape[0];
  shape[0] = rows.size();
  Tensor to(shape);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::memcpy(to.f32() + row * size, from.f32() + rows[row] * size, size * sizeof(float));
  }
  return to;
}

}  // namespace

DeltaState& DeltaState::in(std::unique_ptr<PastState>& past) {
  if (past == nullptr) past = std::make_unique<DeltaState>();
  return static_cast<DeltaState&>(*past);
}

std::size_t DeltaState::bytes() const {
  std::size_t sum = 0;
  for (const Moment* moment : {&now_, &before_}) {
    sum += moment->matrices.capacity() + moment->inputs.capacity();
  }
  return sum;
}

bool DeltaState::holds(std::size_t length, std::size_t batch, const StackConfig& stack) const {
  if (now_.length != length || !stack.delta) return false;
  return length == 0 || (now_.matrices.shape() == stack.delta->matrices(batch) &&
                         now_.inputs.shape() == stack.delta->inputs(batch));
}

void DeltaState::expect_reach(std::size_t length, std::size_t layer) const {
  if (length == 0 || length >= now_.length || length == before_.length) return;
  fail(ErrorCode::unsupported, "key/value cache: layer ", layer,
       " is a delta rule, whose state can go back to position ", before_.length, ", not to ",
       length);
}

void DeltaState::crop(std::size_t length) {
  if (length >= now_.length) return;
  now_ = length == 0 ? Moment() : std::move(before_);
  before_ = Moment();
}

std::unique_ptr<PastState> DeltaState::part(std::span<const std::size_t> rows, std::size_t length,
                                            std::size_t) const {
  auto result = std::make_unique<DeltaState>();
  if (length == 0) return result;
  const Moment& from = length == now_.length ? now_ : before_;
  result->now_ = {length, sequences_of(from.matrices, rows), sequences_of(from.inputs, rows)};
  return result;
}

const DeltaState::Moment& DeltaState::advance(const Shape& matrices, const Shape& inputs,
                                              std::size_t positions) {
  if (now_.length != 0 && batch() != matrices[0]) {
    fail(ErrorCode::shape_mismatch, "key/value cache: it holds ", batch(),
         " sequences, the input has ", matrices[0]);
  }
  if (before_.matrices.empty() || before_.matrices.dim(0) != matrices[0]) {
    before_ = {0, Tensor(matrices), Tensor(inputs)};
  }
  std::swap(now_, before_);
  now_.length = before_.length + positions;
  return before_;
}

}  // namespace clearformer
