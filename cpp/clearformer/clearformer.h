// The public header of clearformer: load a Hugging Face checkpoint, run it, look inside.
#pragma once

#include "clearformer/layers/attention.h"
#include "clearformer/layers/decoder.h"
#include "clearformer/layers/output_layer.h"
#include "clearformer/models/decoder_only.h"
#include "clearformer/models/generation.h"
#include "clearformer/weights/checkpoint_reader.h"
