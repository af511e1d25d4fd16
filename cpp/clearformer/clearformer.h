// The public header of clearformer: load and run a Hugging Face checkpoint and trace its internals; and the
// building blocks by themselves.
#pragma once

#include "clearformer/generation/generation.h"
#include "clearformer/layers/attention_pooling.h"
#include "clearformer/layers/complexity.h"
#include "clearformer/layers/decoder.h"
#include "clearformer/layers/functional.h"
#include "clearformer/layers/log_mel_spectrogram.h"
#include "clearformer/layers/optimizer.h"
#include "clearformer/layers/output_layer.h"
#include "clearformer/layers/patch_embedding.h"
#include "clearformer/layers/positional_encoding.h"
#include "clearformer/layers/relative_position.h"
#include "clearformer/loading/inspection.h"
#include "clearformer/loading/load_model.h"
#include "clearformer/loading/matrix_policy.h"
#include "clearformer/models/composition.h"
#include "clearformer/models/model.h"
#include "clearformer/models/sentence_pooling.h"
#include "clearformer/modules/module.h"
#include "clearformer/tensor/thread_pool.h"
#include "clearformer/weights/checkpoint_reader.h"
