#include "clearformer/kernels/matmul.h"

#include "clearformer/kernels/float_tile.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

std::size_t panel_width() { return kWidth; }

void matmul(const MatmulArgs& args) {
  const Destination to{args.epilogue, args.c, args.c_stride, args.n};
  const FloatRows rows{args.a, args.a_stride, args.m, args.k, args.a_step};
  const auto narrow = [&](const auto* b) {
    multiply_narrow(rows, b, args.panel_stride, to, kUsualTurns, args.workspace);
  };
  if (args.element == PanelElement::f16) return narrow(static_cast<const std::uint16_t*>(args.b));
  if (args.element == PanelElement::i8) return narrow(static_cast<const std::int8_t*>(args.b));
  const auto* b = static_cast<const float*>(args.b);
  if (args.m == 1) return multiply_single_row(rows, b, args.panel_stride, to, 1);
  for_each_panel(to, args.m, [&](std::size_t panel) {
    const float* from = b + panel * args.panel_stride;
    multiply_panel(rows, from, to, panel, next_panel(rows, from, args.panel_stride, to, panel));
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
