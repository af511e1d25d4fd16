// The Chromium of the browser tests: headless_shell if it is installed, the same engine without windows, which opens a
// page in half of the processor time; else the whole browser.

import { type Browser, chromium } from 'playwright-core';

/** The whole browser, which some tests need: headless_shell has no extensions. */
export const chromiumProgram = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const browserFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Frames that no other process has to draw: a tenth of the processor time of short files. */
const drawsItself = '--in-process-gpu';

/** A browser that crashes before it has opened anything (seldom) is started once more. */
export async function launchChromium(moreFlags: readonly string[] = []): Promise<Browser> {
  const launch = (): Promise<Browser> =>
    chromium.launch({
      executablePath: process.env.HEADLESS_SHELL || chromiumProgram,
      args: [...browserFlags, drawsItself, ...moreFlags],
    });
  try {
    return await launch();
  } catch (error) {
    if (!/Segmentation fault/.test(String(error))) throw error;
    console.log('Chromium crashed while it started; it is started once more.');
    return launch();
  }
}
