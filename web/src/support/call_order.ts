// Calls of one object in the order in which they were made, though some load a part of the package first.

/** The calls that are being prepared. */
export class CallOrder {
  #waiting = 0;
  #before: Promise<void> = Promise.resolve();

  /**
   * `issue` starts a call once it is prepared and all calls before it are issued; at once, if there is nothing to wait for.
   * Later calls wait until it calls `issued`, at the latest until it settles.
   */
  async run<P, R>(
    prepare: (() => Promise<P>) | undefined,
    issue: (prepared: P, issued: () => void) => Promise<R>,
  ): Promise<R> {
    if (prepare === undefined && this.#waiting === 0) return issue(undefined as P, () => {});
    const before = this.#before;
    let issued = () => {};
    this.#waiting++;
    this.#before = new Promise<void>((resolve) => {
      issued = resolve;
    }).then(() => {
      this.#waiting--;
    });
    try {
      const prepared = (await prepare?.()) as P;
      await before;
      return await issue(prepared, issued);
    } finally {
      void before.then(issued); // one that fails while it is prepared lets none overtake those before it
    }
  }

  /** The same for a call that does at once what has its place in the order. */
  ask<P, R>(prepare: (() => Promise<P>) | undefined, issue: (prepared: P) => Promise<R>): Promise<R> {
    return this.run(prepare, (prepared: P, issued) => {
      const running = issue(prepared);
      issued();
      return running;
    });
  }
}
