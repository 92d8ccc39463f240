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
  return SUSPECT.test(text) && isInexact(text) ? { ...body, arguments: UNREADABLE } : body;
}

function isInexact(text: string): boolean {
  try {
    readArguments(text);
    return false;
  } catch (error) {
    return error instanceof ArgumentsError && error.cause === 'number';
  }
}
