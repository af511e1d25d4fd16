// The page's typefaces: where they come from, and which characters of each are used.

import type { PackagedFiles } from '../models/npm_package.js';

export interface Typeface {
  origin: PackagedFiles;
  /** The font's path in the folder of extracted files. */
  file: string;
  /** Axes of a variable font: pinned, or a range that is kept. */
  axes?: Readonly<Record<string, number | { min: number; max: number }>>;
}

type TypefaceName = 'serif' | 'italic' | 'sans' | 'mono';

const sourceSerif = (style: 'Roman' | 'Italic', sha256: string): PackagedFiles => ({
  name: 'source-serif',
  version: '4.5.1',
  megabytes: 20,
  files: [{ from: `VAR/SourceSerif4Variable-${style}.ttf`, to: `serif-${style}.ttf`, sha256 }],
});

/** Prose is set at 18 to 20 px, so the optical size is pinned there; titles use the same design in weight 600. */
export const typefaces: Readonly<Record<TypefaceName, Typeface>> = {
  serif: {
    origin: sourceSerif('Roman', '14d360ee1b76655da9276628b229e11671bc1f5d1083636144db6677d452cf55'),
    file: 'serif-Roman.ttf',
    axes: { wght: { min: 400, max: 600 }, opsz: 19 },
  },
  italic: {
    origin: sourceSerif('Italic', '6a059a64838978d54e8fab71ed86b0d82e948c0e12b2664d0c15166326dcff82'),
    file: 'serif-Italic.ttf',
    axes: { wght: 400, opsz: 19 },
  },
  sans: {
    origin: {
      name: 'inter-ui',
      version: '4.1.1',
      megabytes: 5,
      files: [
        {
          from: 'variable/InterVariable.woff2',
          to: 'sans.woff2',
          sha256: '693b77d4f32ee9b8bfc995589b5fad5e99adf2832738661f5402f9978429a8e3',
        },
      ],
    },
    file: 'sans.woff2',
    axes: { wght: { min: 400, max: 600 }, opsz: 14 },
  },
  mono: {
    origin: {
      name: 'jetbrains-mono',
      version: '1.0.6',
      megabytes: 2,
      files: [
        {
          from: 'fonts/webfonts/JetBrainsMono-Regular.woff2',
          to: 'mono.woff2',
          sha256: 'bceff0710e3a7fe5b3622265c48b6fbc055cf071df80ef5f36ffc69550296664',
        },
      ],
    },
    file: 'mono.woff2',
  },
};

const ascii = String.fromCodePoint(...Array.from({ length: 95 }, (_, i) => 32 + i));
const german = 'äöüßÄÖÜ';
// The characters of the translator's output, with those capitals that can begin a sentence.
const french = 'àâçéèêëîïôùûüœÀÂÇÉÈÊÎÔŒ';
const marks = '\u00a0…–—“”„‘’‚«»‹›·°×−';
const maths = '÷√∞≈≤≥←→²±';

export interface Face {
  /** File name in web/demo/fonts. */
  file: string;
  typeface: TypefaceName;
  /** The family name in the font. */
  family: string;
  style: 'Regular' | 'Italic';
  characters: string;
  /** OpenType features to keep. */
  features: readonly string[];
}

export const faces: readonly Face[] = [
  {
    file: 'serif.woff2',
    typeface: 'serif',
    family: 'CF Serif',
    style: 'Regular',
    characters: `${ascii}${german}${french}${marks}${maths}Σ`,
    features: ['kern'],
  },
  {
    file: 'serif-italic.woff2',
    typeface: 'italic',
    family: 'CF Serif',
    style: 'Italic',
    characters: `${ascii}${german}${french}${marks}βγδεηθλμπρσφωΔΣ`,
    features: ['kern'],
  },
  {
    file: 'sans.woff2',
    typeface: 'sans',
    family: 'CF Sans',
    style: 'Regular',
    characters: `${ascii}${german}${french}${marks}${maths}↑↓✓δθωσΣ␣↵⇥ₒ`,
    features: ['tnum', 'kern'],
  },
  // Also used for symbols that the serif and sans fonts lack (fonts.css).
  {
    file: 'mono.woff2',
    typeface: 'mono',
    family: 'CF Mono',
    style: 'Regular',
    characters: `${ascii}${german}…·×−→√⊤▁∈⊙∘▸▾∅■⌘⁴⁶`,
    features: [],
  },
];
