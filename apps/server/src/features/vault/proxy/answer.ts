import type { IncomingMessage } from 'node:http';
import { finished, pipeline, type Readable, Transform } from 'node:stream';
import { PassingTimeout } from '../../../platform/egress/passing.ts';
import { type Sought, searchFor } from './answer.rules.ts';

/** How a call ended. `upstream` is a whole answer, whatever its status. */
export type Outcome =
  | 'upstream'
  | 'connect'
  | 'tls'
  | 'blocked_address'
  | 'timeout'
  | 'too_large'
  | 'protocol'
  | 'credential_reflected'
  | 'client_gone'
  | 'grant_ended';

/** The end of an answer that is not passed on further. */
export class AnswerCut extends Error {
  override readonly name = 'AnswerCut';
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    super(`The answer of the upstream was cut: ${outcome}.`);
    this.outcome = outcome;
  }
}

interface Guard {
  readonly sought: Sought;
  readonly maxBytes: number;
}

/** The body of an answer as the agent gets it, and the bytes that went through so far. */
export interface GuardedBody {
  readonly body: Readable;
  readonly bytes: () => number;
}

/** Lets the body through as it comes, up to a part that holds the credential, or that is too much. A
 * part of the credential at the beginning or the end counts as all of it. */
export function guarded(answer: IncomingMessage, { sought, maxBytes }: Guard): GuardedBody {
  const search = searchFor(sought);
  let read = 0;
  const guard = new Transform({
    transform(part: Buffer, _encoding, done) {
      read += part.length;
      if (read > maxBytes) return done(new AnswerCut('too_large'));
      const clean = search.read(part);
      if (!clean) return done(new AnswerCut('credential_reflected'));
      if (clean.length > 0) this.push(clean);
      return done();
    },
    flush(done) {
      const rest = search.rest();
      if (rest) done(null, rest);
      else done(new AnswerCut('credential_reflected'));
    },
  });
  guard.on('error', () => {}); // callers read it from `errored`, since it may come before they listen
  pipeline(answer, guard, () => {});
  return { body: guard, bytes: () => read };
}

/** Waits until the body has begun, or has ended without a byte. @throws AnswerCut, PassingTimeout */
export function untilBegun(body: Readable): Promise<void> {
  return new Promise((done, fail) => {
    const clear = () => {
      body.off('readable', begun).off('error', failed).off('close', closed);
    };
    const begun = () => {
      clear();
      done();
    };
    const failed = (error: Error) => {
      clear();
      fail(error);
    };
    const closed = () => failed(new AnswerCut('protocol'));
    body.on('readable', begun).on('error', failed).on('close', closed);
  });
}

/** Calls the listener when the body is over, even if it was over before. */
export function whenOver(body: Readable, listener: () => void): void {
  finished(body, { writable: false }, listener);
}

/** The outcome of an answer whose stream failed. */
export function outcomeOf(error: unknown, isGone: boolean): Outcome {
  if (error instanceof AnswerCut) return error.outcome;
  if (isGone) return 'client_gone';
  return error instanceof PassingTimeout ? 'timeout' : 'protocol';
}
