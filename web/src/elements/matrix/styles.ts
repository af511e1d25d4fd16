// The styles of a matrix.

import { type CSSResult, css } from 'lit';

/** @internal */
export const matrixStyles: CSSResult = css`
  .frame {
    position: relative;
    max-width: 100%;
  }
  .frame.wide {
    overflow: auto hidden;
  }
  canvas {
    position: absolute;
    left: 0;
    top: 0;
    /* read by the painter, which cannot use custom properties */
    color: var(--_ink);
    caret-color: var(--_muted);
    outline-color: var(--_accent);
    column-rule-color: var(--_line-strong);
    text-decoration-color: var(--_sunken);
    font-family: var(--_sans);
  }
  svg {
    display: block;
    position: relative;
    overflow: visible;
    outline: none;
    fill: var(--_ink);
    -webkit-tap-highlight-color: transparent;
  }
  text {
    font-family: var(--_sans);
    font-variant-numeric: tabular-nums;
    user-select: none;
    -webkit-user-select: none;
  }
  .digits {
    pointer-events: none;
  }
  .label {
    font-family: var(--_serif);
  }
  .bold {
    font-weight: 600;
  }
  .name {
    font-family: var(--_serif);
    font-style: italic;
  }
  .about,
  .shape {
    fill: var(--_muted);
  }
  .shape {
    font-family: var(--_mono);
  }
  .cells {
    cursor: default;
  }
  .frames {
    pointer-events: none;
  }
  .edited {
    fill: var(--_ink);
  }
  .changed {
    fill: none;
    stroke: var(--_accent);
    stroke-width: 1.6;
  }
  .selected {
    stroke: var(--_ink);
  }
  .pointed {
    stroke: var(--_ink);
  }
  .focused {
    stroke: var(--_accent);
  }
  .editor {
    position: absolute;
    z-index: 5;
    display: flex;
    width: max(84px, 5 * var(--_min-font-size));
  }
  .editor input {
    box-sizing: border-box;
    width: 100%;
    height: max(34px, 1.6 * var(--_min-font-size));
    padding: 3px;
    text-align: center;
    font: 600 max(14px, var(--_min-font-size)) var(--_sans);
    font-variant-numeric: tabular-nums;
    color: var(--_ink);
    background: var(--_raised);
    border: 2px solid var(--_ink);
    border-radius: 6px;
  }
  .editor input[aria-invalid] {
    border-color: var(--_wrong);
  }
  .editor input:focus {
    outline: 2px solid var(--_accent);
    outline-offset: 1px;
  }
  .editor input::selection {
    color: var(--_paper);
    background: var(--_accent);
  }
  .editor button {
    display: none;
    min-width: 44px;
    font: 600 max(18px, var(--_min-font-size)) var(--_sans);
    color: var(--_ink);
    background: var(--_raised);
    border: 1px solid var(--_line-strong);
    border-radius: 6px;
  }
  .editor [role='alert'] {
    position: absolute;
    top: calc(100% + 4px);
    left: 0;
    margin: 0;
    padding: 3px 6px;
    width: max-content;
    max-width: max(180px, 11 * var(--_min-font-size));
    font-size: max(12.5px, var(--_min-font-size));
    color: var(--_wrong);
    background: var(--_raised);
    border-radius: 4px;
  }
  @media (pointer: coarse) {
    .editor {
      width: 132px;
    }
    .editor input {
      height: max(44px, 1.6 * var(--_min-font-size));
      font-size: max(16px, var(--_min-font-size)); /* smaller fields are zoomed into */
    }
    .editor button {
      display: block;
    }
  }
`;
