#include "clearformer/tensor/rotation.h"

namespace clearformer {

void rotate(float (&block)[kBlock]) {
  for (float& x : block) x *= kRotationScale;
  hadamard(block);
}

}  // namespace clearformer
