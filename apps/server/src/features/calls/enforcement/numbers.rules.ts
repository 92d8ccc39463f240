import { ArgumentsError, readArguments } from '@behest/protocol/arguments/read-arguments';

/** A number that may not be exactly the double it becomes: with an exponent, or with more digits than a double keeps. */
const SUSPECT = /[:,[]\s*-?(?:[0-9.]{16}|[0-9.]+[eE])/;

/** Stands for arguments of which two readers could see different numbers. No check and no decision takes it. */
const UNREADABLE = { number: Number.NaN };

/**
 * The body of a call as the engine may read it. A number anywhere in it that another reader could take for a different
 * one counts as one of the arguments.
 */
export function withExactNumbers<Body extends { readonly arguments?: unknown }>(
  body: Body,
  text: string,
): Body {
  return isInexact(text) ? unreadable(body) : body;
}

/** The body of a call that has an inexact number. */
export const unreadable = <Body extends { readonly arguments?: unknown }>(body: Body): Body => ({
  ...body,
  arguments: UNREADABLE,
});

/** Whether two readers could take a number in the text of an object for different ones. */
export function isInexact(text: string): boolean {
  if (!mayBeInexact(text)) return false;
  try {
    readArguments(text);
    return false;
  } catch (error) {
    return error instanceof ArgumentsError && error.cause === 'number';
  }
}

/** A first look that costs little. False says that every number in the text is exact. */
export const mayBeInexact = (text: string): boolean => SUSPECT.test(text);
