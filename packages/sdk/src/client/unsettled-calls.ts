import type { Call } from '@behest/protocol/enforcement/call';
import type { Denied, Result } from '@behest/protocol/enforcement/result';

const MOST = 1000; // ids that are kept

/**
 * The ids of calls that used a decision and were not told so. The decision is good for the same id alone, so the next
 * attempt at the same call takes it over. The memory is that of this process; a `callId` of the caller outlives it.
 */
export class UnsettledCalls {
  readonly #ids = new Map<string, string>();

  /** The id under which an attempt would be made, if it has one of its own or takes one over. */
  idOf(call: Call, denied: Denied): string | undefined {
    return call.callId ?? this.#ids.get(keyOf(denied));
  }

  /** Makes an attempt at a call that waits for people, under one id for the request and the use. */
  async attempt<Answer extends { readonly result?: Result }>(
    call: Call,
    denied: Denied,
    make: (named: Call & { readonly callId: string }) => Promise<Answer>,
  ): Promise<Answer> {
    const key = keyOf(denied);
    const kept = this.#ids.get(key);
    this.#ids.delete(key); // of two attempts at once, one takes it over
    const callId = call.callId ?? kept ?? denied.callId;
    let open = kept;
    try {
      const answer = await make({ ...call, callId });
      if (answer.result) open = isUnsettled(answer.result) ? callId : undefined;
      return answer;
    } finally {
      if (open !== undefined) this.#keep(key, open);
    }
  }

  #keep(key: string, callId: string): void {
    const [oldest] = this.#ids.keys();
    if (this.#ids.size >= MOST && oldest !== undefined) this.#ids.delete(oldest);
    this.#ids.set(key, callId);
  }
}

const isUnsettled = (result: Result) => !result.allowed && result.sub_reason === 'consume_unavailable';

const keyOf = ({ grantId, details }: Denied) => `${grantId} ${details.action_hash}`;
