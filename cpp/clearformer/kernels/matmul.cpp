#include "clearformer/kernels/matmul.h"

#include "clearformer/kernels/float_tile.h"

namespace clearformer::kernels::CLEARFORMER_TARGET {

std::size_t panel_width() { return kWidth; }

void matmul(const MatmulArgs& args) {
  const Destination to{args.epilogue, args.c, args.c_stride, args.n};
  const FloatRows rows{args.a, args.a_stride, args.m, args.k};
  if (args.m == 1) return multiply_single_row(rows, args.b, args.panel_stride, to);
  for_each_panel(to, args.m, [&]<std::size_t>(std::size_t panel) {
    multiply_panel(rows, args.b + panel * args.panel_stride, to, panel);
  });
}

}  // namespace clearformer::kernels::CLEARFORMER_TARGET
