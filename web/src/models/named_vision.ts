// Models of images by transformers' class names. See named.ts.

import { AutoModel, AutoModelForImageClassification } from './auto_models.js';
import { named } from './named.js';

type Model = typeof AutoModel;
type ModelForImageClassification = typeof AutoModelForImageClassification;

/** The trunk of ViT without a head. */
export const ViTModel: Model = /* @__PURE__ */ named('ViTModel', AutoModel, 'vit');
/** The trunk of DeiT without a head. */
export const DeiTModel: Model = /* @__PURE__ */ named('DeiTModel', AutoModel, 'deit');
/** The trunk of CLIP without a head. */
export const CLIPModel: Model = /* @__PURE__ */ named('CLIPModel', AutoModel, 'clip');
/** The trunk of DINOv2 without a head. */
export const Dinov2Model: Model = /* @__PURE__ */ named('Dinov2Model', AutoModel, 'dinov2');
/** The trunk of DINOv2 with registers without a head. */
export const Dinov2WithRegistersModel: Model = /* @__PURE__ */ named(
  'Dinov2WithRegistersModel',
  AutoModel,
  'dinov2_with_registers',
);
/** The trunk of DINOv3's vision transformers, which have no other head. */
export const DINOv3ViTModel: Model = /* @__PURE__ */ named('DINOv3ViTModel', AutoModel, 'dinov3_vit');
/** SigLIP: both towers, and the similarity of texts and images. */
export const SiglipModel: Model = /* @__PURE__ */ named('SiglipModel', AutoModel, 'siglip');
/** ViT for image classification. */
export const ViTForImageClassification: ModelForImageClassification = /* @__PURE__ */ named(
  'ViTForImageClassification',
  AutoModelForImageClassification,
  'vit',
);
/** DeiT for image classification. */
export const DeiTForImageClassification: ModelForImageClassification = /* @__PURE__ */ named(
  'DeiTForImageClassification',
  AutoModelForImageClassification,
  'deit',
);
/** DeiT for image classification with both of its classifiers. */
export const DeiTForImageClassificationWithTeacher: ModelForImageClassification = /* @__PURE__ */ named(
  'DeiTForImageClassificationWithTeacher',
  AutoModelForImageClassification,
  'deit',
);
/** DINOv2 for image classification. */
export const Dinov2ForImageClassification: ModelForImageClassification = /* @__PURE__ */ named(
  'Dinov2ForImageClassification',
  AutoModelForImageClassification,
  'dinov2',
);
/** DINOv2 with registers for image classification. */
export const Dinov2WithRegistersForImageClassification: ModelForImageClassification = /* @__PURE__ */ named(
  'Dinov2WithRegistersForImageClassification',
  AutoModelForImageClassification,
  'dinov2_with_registers',
);
/** SigLIP for image classification. */
export const SiglipForImageClassification: ModelForImageClassification = /* @__PURE__ */ named(
  'SiglipForImageClassification',
  AutoModelForImageClassification,
  'siglip',
);
