// Makes the page work offline: once the first figure is computed and the browser is idle, a service worker caches every
// file of the page, unopened chapters included. A failure is only reported as a state: the page works as before.

/** `off`: not available, with the reason. */
export type OfflineState =
  | { state: 'waiting' | 'fetching' | 'ready' }
  | { state: 'off'; reason: 'development' | 'insecure' | 'unsupported' | 'frame' | 'save-data' }
  | { state: 'failed'; message: string };

interface Connection {
  readonly saveData?: boolean;
}

function obstacle(): OfflineState | undefined {
  // Vite's dev server injects its client into the page; there is no precache list then.
  if (document.querySelector('script[src*="@vite/client"]')) return { state: 'off', reason: 'development' };
  if (!isSecureContext) return { state: 'off', reason: 'insecure' };
  if (!('serviceWorker' in navigator)) return { state: 'off', reason: 'unsupported' };
  if (window.top !== window) return { state: 'off', reason: 'frame' };
  const { connection } = navigator as Navigator & { connection?: Connection };
  return connection?.saveData ? { state: 'off', reason: 'save-data' } : undefined;
}

/** Dispatches 'change'. The laboratory shows the state. */
class Offline extends EventTarget {
  #now: OfflineState = { state: 'waiting' };

  get now(): OfflineState {
    return this.#now;
  }

  #become(now: OfflineState): void {
    this.#now = now;
    this.dispatchEvent(new Event('change'));
  }

  /** Starts when a figure inside `page` has been computed. */
  keep(page: EventTarget): void {
    const stopped = obstacle();
    if (stopped) {
      this.#become(stopped);
      return;
    }
    const idle = window.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 2000));
    page.addEventListener('figure-computed', () => idle(() => void this.#register()), { once: true });
  }

  async #register(): Promise<void> {
    this.#become({ state: 'fetching' });
    try {
      const registration = await navigator.serviceWorker.register(new URL('service_worker.js', document.baseURI));
      const worker = registration.installing;
      if (!worker) this.#become({ state: 'ready' });
      worker?.addEventListener('statechange', () => {
        if (worker.state === 'activated') this.#become({ state: 'ready' });
        if (worker.state === 'redundant') this.#become({ state: 'failed', message: 'not every file could be fetched' });
      });
    } catch (error) {
      this.#become({ state: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
  }
}

export const offline = new Offline();
