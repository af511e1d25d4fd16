// Objects that are called like functions, as Hugging Face's tokenizers and models are.

/**
 * The base of a class whose instances are functions: `instance(...)` runs `_call`. Made without `Function`'s constructor,
 * which pages with a strict content security policy forbid.
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
