// Naive twins of layers, entirely in double.
#pragma once

#include <vector>

#include "clearformer/tensor/tensor.h"

namespace clearformer::test::naive {

/// x (rows, in)·Wᵀ + b of a torch.nn.Linear: weight (out, in), bias (out) or empty.
std::vector<double> linear(const std::vector<double>& x, const Tensor& weight, const Tensor& bias);

}  // namespace clearformer::test::naive
