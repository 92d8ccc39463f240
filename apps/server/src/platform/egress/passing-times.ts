import type { ClientRequest, IncomingMessage } from 'node:http';

/** Times in milliseconds. */
export interface PassingTimes {
  /** From the look-up of the name to the end of the handshake. */
  readonly connect: number;
  /** From there to the first byte of the answer. */
  readonly firstByte: number;
  /** Between two parts of the answer. */
  readonly gap: number;
  /** From the beginning to the end of an answer with this media type. */
  readonly total: (mediaType: string) => number;
}

/** The end of a time, in the stream of an answer. */
export class PassingTimeout extends Error {
  override readonly name = 'PassingTimeout';
}

/** Ends a call that takes longer than its times. */
export function clocksOf(
  call: ClientRequest,
  { connect, firstByte, gap, total }: PassingTimes,
  began: number,
) {
  let isOver = false;
  let answer: IncomingMessage | undefined;
  const end = () => {
    isOver = true;
    const error = new PassingTimeout('The upstream took too long.');
    answer?.destroy(error);
    call.destroy(error);
  };
  const left = (milliseconds: number) => Math.max(0, milliseconds - (performance.now() - began));
  let step = setTimeout(end, left(connect));
  let whole = setTimeout(end, left(total('')));
  return {
    isOver: () => isOver,
    connected() {
      clearTimeout(step);
      step = setTimeout(end, firstByte);
    },
    answered(response: IncomingMessage) {
      answer = response;
      clearTimeout(step);
      clearTimeout(whole);
      whole = setTimeout(end, left(total(mediaTypeOf(response))));
      call.setTimeout(gap, end);
    },
    stop() {
      clearTimeout(step);
      clearTimeout(whole);
    },
  };
}

/** The media type of an answer without its parameters, in lower case. */
export const mediaTypeOf = ({ headers }: IncomingMessage): string =>
  (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
