// A cache like the browser's, in memory.

import type { CacheLike } from 'clearformer';

export class MemoryCache implements CacheLike {
  readonly kept = new Map<string, { body: ArrayBuffer; headers: Headers }>();
  full = false;
  /** The most bytes that it takes. */
  room = Number.POSITIVE_INFINITY;

  async match(request: string): Promise<Response | undefined> {
    const found = this.kept.get(request);
    return found && new Response(found.body.slice(0), { headers: found.headers });
  }

  async put(request: string, response: Response): Promise<void> {
    const body = await response.arrayBuffer();
    const others = [...this.kept].filter(([url]) => url !== request);
    const taken = others.reduce((sum, [, other]) => sum + other.body.byteLength, body.byteLength);
    if (this.full || taken > this.room) throw new DOMException('no space', 'QuotaExceededError');
    this.kept.set(request, { body, headers: response.headers });
  }

  async keys(): Promise<readonly Request[]> {
    return [...this.kept.keys()].map((url) => new Request(url));
  }

  async delete(request: string): Promise<boolean> {
    return this.kept.delete(request);
  }
}
