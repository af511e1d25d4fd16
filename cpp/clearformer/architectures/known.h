// All architectures; each is in a file of its name in this folder.
#pragma once

#include "clearformer/architectures/architecture.h"

namespace clearformer {

extern const Architecture kBert, kRoberta, kXlmRoberta, kCamembert, kDistilBert, kModernBert,
    kElectra, kAlbert, kMpnet, kDebertaV2, kEsm, kNomicBert, kEuroBert;
extern const Architecture kGpt2, kGptNeo, kLlama, kMistral, kQwen2, kQwen3, kPhi, kPhi3, kGemma,
    kGemma2, kGemma3, kGemma3Text, kOlmo, kOlmo2, kOlmo3, kSmolLm3, kGranite, kStarcoder2, kOpt,
    kOpenAiGpt;
extern const Architecture kGptNeoX, kGptJ, kCodeGen, kBloom, kFalcon, kMpt, kStableLm, kCohere,
    kCohere2, kLfm2, kQwen35, kQwen35Text, kErnie45, kHelium, kGlm, kGlm4, kExaone4, kArcee,
    kVaultGemma, kGptBigCode, kHunyuanV1Dense, kNanoChat, kModernBertDecoder;
extern const Architecture kGraniteMoe, kOlmoe, kQwen3Moe, kMixtral;
extern const Architecture kTransformer, kMarian, kBart, kMBart, kM2m100, kPegasus, kT5, kMt5,
    kWhisper;
extern const Architecture kWav2vec2, kHubert;
extern const Architecture kVit, kDeit, kDinov2, kDinov2WithRegisters, kDinov3Vit, kClip, kSiglip;
// Of nested configs.
extern const KeyTable kGemma3TextKeys, kClipTextKeys, kClipVisionKeys, kMptAttentionKeys,
    kQwen35TextKeys, kSiglipTextKeys, kSiglipVisionKeys;

inline constexpr const Architecture* kKnown[] = {&kBert,        &kRoberta,
                                                 &kXlmRoberta,  &kCamembert,
                                                 &kDistilBert,  &kModernBert,
                                                 &kElectra,     &kAlbert,
                                                 &kMpnet,       &kDebertaV2,
                                                 &kGpt2,        &kGptNeo,
                                                 &kLlama,       &kMistral,
                                                 &kQwen2,       &kQwen3,
                                                 &kPhi,         &kPhi3,
                                                 &kGemma,       &kGemma2,
                                                 &kGemma3,      &kGemma3Text,
                                                 &kOlmo,        &kOlmo2,
                                                 &kOlmo3,       &kSmolLm3,
                                                 &kGranite,     &kStarcoder2,
                                                 &kOpt,         &kOpenAiGpt,
                                                 &kTransformer, &kMarian,
                                                 &kBart,        &kT5,
                                                 &kWhisper,     &kVit,
                                                 &kDeit,        &kClip,
                                                 &kGptNeoX,     &kGptJ,
                                                 &kCodeGen,     &kBloom,
                                                 &kFalcon,      &kMpt,
                                                 &kStableLm,    &kCohere,
                                                 &kCohere2,     &kMBart,
                                                 &kM2m100,      &kPegasus,
                                                 &kDinov2,      &kDinov2WithRegisters,
                                                 &kSiglip,      &kMt5,
                                                 &kLfm2,        &kGraniteMoe,
                                                 &kOlmoe,       &kQwen3Moe,
                                                 &kMixtral,     &kEsm,
                                                 &kWav2vec2,    &kHubert,
                                                 &kQwen35,      &kQwen35Text,
                                                 &kErnie45,     &kHelium,
                                                 &kGlm,         &kGlm4,
                                                 &kExaone4,     &kArcee,
                                                 &kVaultGemma,  &kNomicBert,
                                                 &kEuroBert,    &kGptBigCode,
                                                 &kDinov3Vit,   &kHunyuanV1Dense,
                                                 &kNanoChat,    &kModernBertDecoder};

}  // namespace clearformer
