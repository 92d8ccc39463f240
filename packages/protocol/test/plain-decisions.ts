import type {
  DecisionMove,
  DecisionMoved,
  DecisionPhase,
  DecisionStore,
  MoveRefusal,
  VerifiedDecision,
} from '../src/enforcement/ports.ts';

/** A decision grant as a case describes it. */
export interface PlainDecision {
  readonly signature?: 'valid' | 'bad';
  readonly typ?: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

interface State {
  readonly state: 'held' | 'sent' | 'spent';
  readonly callId: string;
}

/** An issuer of decisions in memory, for tests: a handle stands for each JWT. */
export class PlainDecisions implements DecisionStore {
  readonly #grants: ReadonlyMap<string, PlainDecision>;
  readonly #setup: { readonly issuer: string; readonly now: () => number };
  readonly #states = new Map<string, State>();

  constructor(
    grants: ReadonlyMap<string, PlainDecision>,
    setup: { readonly issuer: string; readonly now: () => number },
  ) {
    this.#grants = grants;
    this.#setup = setup;
  }

  verify(handle: string): VerifiedDecision | { readonly ok: false } {
    const { signature = 'valid', typ = 'decision+jwt', claims } = this.#grants.get(handle) ?? {};
    const isGenuine = signature === 'valid' && typ === 'decision+jwt' && claims?.iss === this.#setup.issuer;
    if (!isGenuine || !claims) return { ok: false };
    return { ok: true, payload: claims, expired: this.#setup.now() >= Number(claims.exp) * 1_000 };
  }

  async move({
    phase,
    decisionGrants,
    callId,
  }: DecisionMove): Promise<DecisionMoved | { ok: false; reason: MoveRefusal }> {
    const known = decisionGrants.map((handle) => this.#states.get(handle));
    const isOthers = known.some((state) => state && (state.callId !== callId || state.state === 'spent'));
    if (isOthers) return { ok: false, reason: 'consumed' };
    const before = known[0]?.state;
    const state = after(phase, before);
    for (const handle of decisionGrants) {
      const next = after(phase, this.#states.get(handle)?.state);
      if (next === 'free') this.#states.delete(handle);
      else this.#states.set(handle, { state: next, callId });
    }
    return { ok: true, state, replayed: before === state, decisionId: '', jtis: [], approvers: [] };
  }
}

/** A release frees what is held. A decision that was sent stays sent: its first call may be on its way. */
function after(phase: DecisionPhase, before: State['state'] | undefined): State['state'] | 'free' {
  if (phase === 'release' && before !== 'sent') return 'free';
  if (phase === 'spend') return 'spent';
  return phase === 'send' || before === 'sent' ? 'sent' : 'held';
}
