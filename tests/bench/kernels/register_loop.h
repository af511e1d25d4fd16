// The loop of all peak rates: independent accumulators, each stepped once per iteration.
#pragma once

#include <cstddef>
#include <utility>

namespace clearformer::bench {

/// Steps `Accumulators` registers `turns` times. Their number must cover the instruction's latency
/// and leave the accumulators, and the operands of `step`, in registers: 12 and 2 of 15 in WASM,
/// where a floating-point counter would be one too many.
template <std::size_t Accumulators, class Register, class Step, std::size_t... I>
inline void step_all(Register (&state)[Accumulators], std::size_t turns, Step step,
                     std::index_sequence<I...>) {
  // A copy accessed through constant indices only, which GCC keeps in registers.
  Register own[Accumulators] = {state[I]...};
  for (; turns != 0; --turns) ((own[I] = step(own[I])), ...);
  ((state[I] = own[I]), ...);
}

template <std::size_t Accumulators, class Register, class Step>
inline void run_in_registers(Register (&state)[Accumulators], std::size_t turns, Step step) {
  step_all(state, turns, step, std::make_index_sequence<Accumulators>());
}

}  // namespace clearformer::bench
