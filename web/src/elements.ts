/**
 * `clearformer/elements`: web components that draw the activations of a transformer. Importing it registers their tags.
 * @module clearformer/elements
 */

export { CfAttention } from './elements/attention.js';
export { type Bar, CfBars } from './elements/bars.js';
export {
  contrast,
  cssColour,
  inkOn,
  luminance,
  paper,
  type Rgb,
  signed,
  type Theme,
  weight,
} from './elements/colours.js';
export { CfFigure } from './elements/figure.js';
export { decimals, four, percent, short, small2, spoken, two, weightDigits } from './elements/formats.js';
export { CfLens, type LensCell, type LensPlace } from './elements/lens.js';
export type { CaptionPlace } from './elements/matrix/layout.js';
export type { CellTest, Digits, Scale } from './elements/matrix/looks.js';
export type { Quiet, Rails } from './elements/matrix/make_view.js';
export { type CellEdit, CfMatrix } from './elements/matrix/matrix.js';
export type { Hue } from './elements/matrix/view.js';
export type { Cell, Drawn, Numbers } from './elements/numbers.js';
export { motionReduced, themeOf, watchTheme } from './elements/theme.js';
export {
  type Token,
  type TokenNames,
  tokenName,
  tokenPiece,
  tokenPieces,
  visibleToken,
} from './elements/token_pieces.js';
export { CfTokens } from './elements/tokens.js';
