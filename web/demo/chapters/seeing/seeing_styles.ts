// Styles of chapter 11.

import { css } from 'lit';

export const seeingStyles = css`
  .seeing { container-type: inline-size; }
  .top { display: grid; grid-template-columns: minmax(0, 284px) minmax(210px, 1fr); gap: 34px; align-items: start; }
  .models { display: flex; margin-bottom: 12px; }
  .turning { margin-top: 8px; color: var(--cf-muted); }
  .see { position: relative; }
  .scores { min-width: 0; }
  .answer { font: max(21px, var(--cf-min-font-size)) / 1.3 var(--cf-serif); margin: 0 0 8px 6px; }
  .answer b { font-weight: 600; font-size: 27px; }
  .answer .number { font: max(15px, var(--cf-min-font-size)) var(--cf-sans); margin-left: 6px; }
  .secret { color: var(--cf-muted); }
  .stage { margin-top: 26px; min-height: calc(220px * var(--wall)); }
  .row { display: flex; gap: 12px 30px; flex-wrap: wrap; align-items: center; }
  .line { display: flex; gap: 10px 16px; align-items: center; }
  .sign { font: max(22px, var(--cf-min-font-size)) var(--cf-serif); color: var(--cf-muted); }
  .readout { margin-top: 10px; }
  .row .readout, .controls .readout { margin: 0; }
  .note { color: var(--cf-muted); font-size: max(14px, var(--cf-min-font-size)); max-width: 62ch; margin-top: 10px; }
  .samples { display: flex; gap: 6px; flex-wrap: wrap; }
  .samples button { width: 44px; height: 44px; padding: 0; border: 0; border-radius: 3px; cursor: pointer; }
  .samples button { background: none; box-shadow: 0 0 0 1px var(--cf-line); }
  .samples button::before { content: ''; display: block; height: 100%; background: var(--url) var(--x) 0 / 1000% 100%; image-rendering: pixelated; border-radius: 3px; }
  .samples.light button::before { filter: invert(1); }
  .samples button:hover { box-shadow: 0 0 0 2px var(--cf-line-strong); }
  .samples button[aria-pressed='true'] { box-shadow: 0 0 0 2.4px var(--cf-ink); }
  .file { display: inline-flex; align-items: center; position: relative; }
  .file:focus-within { outline: 2px solid var(--cf-accent); outline-offset: 2px; }
  .heads { display: grid; grid-template-columns: auto repeat(var(--heads), minmax(0, 62px)); gap: 7px; justify-content: start; align-items: center; font-size: max(12.5px, var(--cf-min-font-size)); color: var(--cf-muted); }
  .heads button { padding: 0; border: 0; background: none; cursor: pointer; border-radius: 2px; }
  .heads button[aria-pressed='true'] { box-shadow: 0 0 0 2.4px var(--cf-ink); }
  .heads button:hover { box-shadow: 0 0 0 2px var(--cf-line-strong); }
  .heads .off { opacity: 0.35; }
  .heads .head { text-align: center; }
  .beside { display: grid; grid-template-columns: minmax(0, 1.55fr) minmax(210px, 1fr); gap: 30px; align-items: start; margin-bottom: 14px; }
  .controls { margin-bottom: 0; display: grid; gap: 12px; justify-items: start; }
  .rollouts { display: grid; grid-template-columns: repeat(4, minmax(0, 130px)); gap: 18px; font-size: max(12.5px, var(--cf-min-font-size)); color: var(--cf-muted); }
  .rollouts p { margin-bottom: 6px; }
  .three { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr) auto minmax(0, 1fr); gap: 6px; align-items: start; }
  .three .sign { align-self: center; }
  .square-tiles { width: min(100%, 330px); }
  .meter { font: max(17px, var(--cf-min-font-size)) var(--cf-serif); }
  .meter b { font: 600 max(22px, var(--cf-min-font-size)) var(--cf-sans); font-variant-numeric: tabular-nums; }
  .large .answer { font-size: calc(30px * var(--wall)); margin: 0 0 0 6px; }
  .large .answer b { font-size: calc(44px * var(--wall)); }
  .large .note { display: none; } /* the caption says it */
  .large { display: grid; grid-template-columns: calc(356px * var(--wall)) minmax(0, 1fr); gap: calc(40px * var(--wall)); align-items: start; }
  .large .top { grid-template-columns: minmax(0, 1fr); gap: 4px; }
  .large .see { width: calc(250px * var(--wall)); }
  .large .stage { margin: 0; }
  .large .beside { grid-template-columns: minmax(0, 1.3fr) minmax(calc(430px * var(--wall)), 1fr); }
  .large .heads { grid-template-columns: auto repeat(var(--heads), minmax(0, calc(80px * var(--wall)))); gap: 6px; }
  .large.view-heads .beside { grid-template-columns: max-content minmax(0, 1fr); }
  .large.view-picture, .large.view-hide, .large.view-order { display: block; }
  .large.view-picture .top, .large.view-hide .top, .large.view-order .top { grid-template-columns: calc(440px * var(--wall)) minmax(0, 1fr); gap: calc(60px * var(--wall)); margin-bottom: 14px; }
  .large.view-picture .see, .large.view-hide .see, .large.view-order .see { width: calc(440px * var(--wall)); }
  .large.own .answer b { font-size: calc(30px * var(--wall)); }
  .large.own.view-picture .see, .large.own.view-hide .see, .large.own.view-order .see { width: calc(380px * var(--wall)); }
  .large .rollouts { grid-template-columns: repeat(4, minmax(0, calc(220px * var(--wall)))); }
  .large .samples button { width: calc(62px * var(--wall)); height: calc(62px * var(--wall)); }
  .large .square-tiles { width: min(100%, calc(400px * var(--wall))); }
  @container (max-width: 480px) { .beside { grid-template-columns: minmax(0, 1fr); gap: 14px; } }
  @media (max-width: 900px) {
    .top { grid-template-columns: minmax(0, 38%) minmax(0, 1fr); gap: 16px; }
    .view-picture .top, .view-hide .top, .view-order .top { grid-template-columns: minmax(0, 48%) minmax(0, 1fr); }
    .scores cf-bars { display: none; }
    .stage { margin-top: 12px; }
    .beside { grid-template-columns: minmax(0, 1fr); gap: 14px; }
    .view-kernels .stage { display: flex; flex-direction: column-reverse; gap: 10px; }
    .rollouts { grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 8px; }
    .samples button { width: 28px; height: 28px; }
  }
  @media (max-width: 900px) and (pointer: coarse) {
    .top { grid-template-columns: minmax(174px, 38%) minmax(0, 1fr); } /* seven patches of the width of a finger's target */
    .view-picture .top, .view-hide .top, .view-order .top { grid-template-columns: minmax(174px, 48%) minmax(0, 1fr); }
  }
`;
