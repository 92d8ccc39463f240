import type { Call } from '@behest/protocol/enforcement/call';
import { createDecisionVerifier } from '@behest/protocol/enforcement/decision-verifier';
import {
  type DecisionMoved,
  type DecisionStore,
  type MoveRefusal,
  moveRefusals,
} from '@behest/protocol/enforcement/ports';
import type { Denied, Result } from '@behest/protocol/enforcement/result';
import { BehestError } from '../errors.ts';
import type { IssuerKeys } from '../verify/key-cache.ts';
import { verifySignature } from '../verify/signatures.ts';
import { askService, type ServiceOptions, sendToService } from './service.ts';

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

/** A request that people decide about one exact call, as the service tells of it. */
export interface Decision {
  readonly decisionId: string;
  readonly status: 'pending' | 'approved' | 'consumed' | 'denied' | 'cancelled' | 'superseded' | 'expired';
  readonly actionHash: string;
  readonly quorum: number;
  readonly principalId: string;
  readonly expiresAt: string;
  /** The page on which people decide. It gives no rights. */
  readonly url: string;
}

/** The call that people decide about. */
export interface CallToApprove
  extends Pick<
    Call,
    'grantToken' | 'connector' | 'tool' | 'arguments' | 'resource' | 'caseVersion' | 'callId'
  > {
  readonly caseId?: string;
  readonly amount?: number;
  /** In the words of the agent, which approvers see as such. */
  readonly summary?: string;
  /** A duration such as `30m`. Default: `4h`. */
  readonly expiresIn?: string;
  /** Ids of approvers, or `group:<name>`. Default: all who may decide. */
  readonly approvers?: readonly string[];
}

/** The state of a call that needs a decision: grants to call with, or a request that waits for people. */
export type Waiting =
  | { readonly decisionGrants: readonly string[]; readonly decision: Decision }
  | { readonly decisionGrants?: undefined; readonly decision: Decision };

/** Whether nothing but a decision of people is missing. */
export const isWaiting = (result: Result): result is Denied =>
  !result.allowed && result.reason_code === 'decision_required' && result.sub_reason === null;

/** Whether people have approved, so that there are grants: for the call that uses them when they are used. */
export const hasGrants = ({ status }: Decision): boolean => status === 'approved' || status === 'consumed';

/** The members of a call that people see. */
export function callToApprove(call: Call): CallToApprove {
  const { grantToken, connector, tool, resource, amount, caseId, caseVersion, callId } = call;
  return {
    ...{ grantToken, connector, tool, arguments: call.arguments },
    ...(resource !== undefined && { resource }),
    ...(typeof amount === 'number' && { amount }),
    ...(typeof caseId === 'string' && { caseId }),
    ...(caseVersion !== undefined && { caseVersion }),
    ...(callId !== undefined && { callId }),
  };
}

/** Asks people about calls. Only people approve, so there is no method for that. */
export class Approvals {
  readonly #service: () => ServiceOptions;
  /** @internal */
  readonly unsettled = new UnsettledCalls();

  constructor(service: () => ServiceOptions) {
    this.#service = service;
  }

  /**
   * Asks people about a call, or finds the open request about the same call, or its refusal while its time goes on. With a
   * `callId` it finds the request of that call, also when its approvals are used.
   *
   * @throws BehestError when the service refuses to ask; BehestNetworkError without an answer
   */
  async request(call: CallToApprove): Promise<Decision> {
    return (await this.#send('/v1/decisions', call)) as unknown as Decision;
  }

  async get(decisionId: string): Promise<Decision> {
    return (await askService(this.#service(), `/v1/decisions/${decisionId}`)) as unknown as Decision;
  }

  /** The decision grants of an approved request. @throws BehestError while it is not approved */
  async grants(decisionId: string, grantToken: string): Promise<readonly string[]> {
    const { decisionGrants } = await this.#send(`/v1/decisions/${decisionId}/grants`, { grantToken });
    return Array.isArray(decisionGrants) ? decisionGrants.map(String) : [];
  }

  async cancel(decisionId: string): Promise<void> {
    await this.#send(`/v1/decisions/${decisionId}/cancel`, {});
  }

  /**
   * Asks people about a call at its first time, and finds their answer when the same call comes again. An adapter needs
   * no memory of its own between the two. With a `callId`, also the repetition of a call that has used the decision gets
   * the grants, for this call alone.
   */
  async resume(call: CallToApprove): Promise<Waiting> {
    const decision = await this.request(call);
    if (!hasGrants(decision)) return { decision };
    return { decision, decisionGrants: await this.grants(decision.decisionId, call.grantToken) };
  }

  async #send(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const { status, answer } = await sendToService(this.#service(), path, body);
    if (status < 300) return answer;
    throw new BehestError(String(answer.code ?? 'REFUSED'), String(answer.message ?? 'The service refused.'));
  }
}

interface StoreOptions {
  readonly service: ServiceOptions;
  readonly keys: IssuerKeys;
  readonly issuer: string;
}

/** Verifies decision grants here, and moves them at the service. */
export function serviceDecisions({ service, keys, issuer }: StoreOptions): DecisionStore {
  return {
    async verify(decisionGrant) {
      const known = await keys.get();
      const verifying = (set: typeof known) =>
        createDecisionVerifier({ keys: () => set, issuer, verifySignature, now: () => new Date() });
      const verified = await verifying(known).verify(decisionGrant);
      if (verified.ok) return verified;
      const newer = await keys.refetch();
      return newer === known ? verified : verifying(newer).verify(decisionGrant);
    },
    async move(request) {
      const { status, answer } = await sendToService(service, '/v1/decisions/consume', request);
      // The engine checks the state, and counts what it does not know as refused.
      if (status === 200) return { ...(answer as unknown as DecisionMoved), ok: true };
      return { ok: false, reason: reasonIn(answer) };
    },
  };
}

function reasonIn({ details }: Readonly<Record<string, unknown>>): MoveRefusal {
  const { sub_reason: given } = Object(details);
  return moveRefusals.find((known) => known === given) ?? 'consume_unavailable';
}
