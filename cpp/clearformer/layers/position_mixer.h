// PositionMixer: what a block may have in place of attention, and what it keeps of past positions.
// Shapes: B batch, T positions, S all positions so far, D model.
#pragma once

#include <memory>
#include <span>

#include "clearformer/layers/context.h"
#include "clearformer/layers/linear.h"

namespace clearformer {

struct BlockConfig;
struct StackConfig;

/// What a layer without attention keeps of the past positions of some sequences.
class PastState {
 public:
  PastState() = default;
  PastState(PastState&&) = default;
  PastState& operator=(PastState&&) = default;
  virtual ~PastState() = default;

  /// All positions so far.
  virtual std::size_t length() const = 0;
  virtual std::size_t batch() const = 0;
  virtual std::size_t bytes() const = 0;
  /// Whether it is that of `batch` sequences of `length` positions in a layer of this stack.
  virtual bool holds(std::size_t length, std::size_t batch, const StackConfig& stack) const = 0;
  /// Throws unsupported, naming the layer, unless what follows the first `length` positions can be computed.
  virtual void expect_reach(std::size_t length, std::size_t layer) const = 0;
  /// Drops the positions from `length` on, which it reaches.
  virtual void crop(std::size_t length) = 0;
  /// The first `length` positions, which it reaches, of these sequences, with room for `more`.
  virtual std::unique_ptr<PastState> part(std::span<const std::size_t> rows, std::size_t length,
                                          std::size_t more) const = 0;
};

/// A layer that reads other positions without attention.
class PositionMixer {
 public:
  explicit PositionMixer(std::string_view name) : name(name) {}
  PositionMixer(const PositionMixer&) = delete;
  PositionMixer& operator=(const PositionMixer&) = delete;
  virtual ~PositionMixer() = default;

  /// The one of a block, whose scope this is; null: it has attention.
  [[gnu::noinline]] static std::unique_ptr<PositionMixer> of(const WeightScope& scope,
                                                             const BlockConfig& config);

  /// x (B, T, D) -> output (B, T, D). padding: uint8 (B, S) whose last T columns are these positions', 0 for padded ones,
  /// or null. past: of the positions before, to which these are added; it may hold nothing yet; null: there are none.
  virtual void forward(const TensorView& x, const TensorView* padding,
                       std::unique_ptr<PastState>* past, const MutableTensorView& output,
                       Write write, const Context& context) const = 0;
  /// From d_output (B, T, D), which is read first, that of x. x is read for gradients of weights only. Without a past.
  virtual void backward(const TensorView& x, const TensorView* padding, const TensorView& d_output,
                        const MutableTensorView& dx, Write write, const Context& context) const = 0;

  const std::string_view name;  // of its scope in the block's
};

}  // namespace clearformer
