// Objects that can be called like functions, such as Hugging Face's tokenizers and models.

/**
 * Base class whose instances are functions: `instance(...)` runs `_call`. Created without the Function constructor,
 * which a strict content security policy forbids.
 */
export abstract class Callable<Arguments extends readonly unknown[], Result> {
  constructor() {
    const instance = (...given: Arguments): Result =>
      (instance as unknown as Callable<Arguments, Result>)._call(...given);
    // biome-ignore lint/correctness/noConstructorReturn: the instance is the function
    return Object.setPrototypeOf(instance, new.target.prototype);
  }

  /** @internal */
  abstract _call(...given: Arguments): Result;
}
