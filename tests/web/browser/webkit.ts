// A page in WebKitGTK, the engine of Safari, driven over WebDriver. Debian's packages do not come with `npm test`: start
// `WebKitWebDriver --port=4444` (webkitgtk-webdriver or webkit2gtk-driver, under Xvfb if there is no screen) and set
// WEBKIT_DRIVER=http://localhost:4444.

/** The address of the driver; '' if there is none. */
export const webKitDriver = process.env.WEBKIT_DRIVER ?? '';

async function call<T>(method: 'POST' | 'DELETE', path: string, given?: unknown): Promise<T> {
  const response = await fetch(webKitDriver + path, {
    method,
    body: given === undefined ? null : JSON.stringify(given),
  });
  const { value } = (await response.json()) as { value: T & { error?: string; message?: string } };
  if (value?.error !== undefined) throw new Error(`${value.error}: ${value.message}`);
  return value;
}

/** How a program in the page ended. */
type End<T> = { value: T } | { thrown: string };

/** The driver has one at a time. */
export class WebKitPage {
  private constructor(private readonly session: string) {}

  static async open(url: string): Promise<WebKitPage> {
    const { sessionId } = await call<{ sessionId: string }>('POST', '/session', { capabilities: {} });
    const page = new WebKitPage(`/session/${sessionId}`);
    await call('POST', `${page.session}/timeouts`, { script: 280_000, pageLoad: 60_000 });
    await page.goto(url);
    return page;
  }

  async goto(url: string): Promise<void> {
    await call('POST', `${this.session}/url`, { url });
  }

  async resize(width: number, height: number): Promise<void> {
    await call('POST', `${this.session}/window/rect`, { x: 0, y: 0, width, height });
  }

  /** Runs a function, or a program as text, whose result is JSON. */
  async evaluate<R, A extends readonly unknown[]>(
    work: string | ((...given: A) => R | Promise<R>),
    ...given: A
  ): Promise<R> {
    const program = typeof work === 'string' ? work : `(${work})(...given)`;
    const script = `const done = arguments[arguments.length - 1];
      const given = [...arguments].slice(0, -1);
      (async () => ${program})().then((value) => done({ value }), (thrown) => done({ thrown: String(thrown) }));`;
    const end = await call<End<R>>('POST', `${this.session}/execute/async`, { script, args: given });
    if ('thrown' in end) throw new Error(end.thrown);
    return end.value;
  }

  async close(): Promise<void> {
    await call('DELETE', this.session);
  }
}
