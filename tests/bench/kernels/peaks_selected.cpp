// Selects the peak loops for the instruction set that the kernels use. The VNNI instructions in them are executed only
// if the processor has them.
#include "clearformer/simd/dispatch.h"
#include "peaks.h"

namespace clearformer::bench {

namespace sse2 {
Peaks peaks();
}
namespace avx2 {
Peaks peaks();
}
namespace avx512 {
Peaks peaks();
}

Peaks peaks_of_selected_target() {
  switch (simd::selected()) {
    case simd::Target::avx512: return avx512::peaks();
    case simd::Target::avx2: return avx2::peaks();
    default: return sse2::peaks();
  }
}

}  // namespace clearformer::bench
