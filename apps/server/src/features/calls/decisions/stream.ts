import type { BrowserRequest, Caller } from '../../../platform/caller.ts';
import {
  type Admission,
  type BodyOutlet,
  bodyOutlet,
  MAX_STREAMS,
  type StreamedEvent,
  type Streams,
} from '../../record/events/index.ts';
import { approverIn, isAbsentAt, isSignedIn, listAllApprovers } from '../approvers/index.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import { findDecision } from './decisions.repo.ts';
import { eligibleOf } from './routing.ts';

export interface FollowDeps extends Pick<DecisionsDeps, 'db' | 'clock' | 'publicBaseUrl'> {
  readonly streams: Streams;
}

interface Following {
  readonly cookies: BrowserRequest['cookies'];
  readonly lastEventId: string | undefined;
}

/**
 * Opens a stream of an approver: events of requests that concern them, as developers get them. A change of approvers is
 * looked at too, and not sent: it may be the end of this one.
 * @throws TOO_MANY_CONNECTIONS
 */
export async function followRequests(
  deps: FollowDeps,
  caller: Caller,
  { cookies, lastEventId }: Following,
): Promise<BodyOutlet> {
  const { approverId } = approverIn(caller);
  const key = `bh:{developer:${caller.tenant.developerId}}:streams:${approverId}`;
  const outlet = bodyOutlet('sse', deps.clock);
  const isGood = () => isSignedIn(deps, cookies);
  const request = {
    types: 'decision.*,approver.*',
    lastEventId,
    isGood,
    seats: [{ key, owner: 'An approver', most: MAX_STREAMS }],
    async admit({ type, envelope }: StreamedEvent): Promise<Admission> {
      if (!(await isGood())) return 'end';
      if (!type.startsWith('decision.')) return 'left out';
      return (await concerns(deps, caller, type, JSON.parse(envelope).data)) ? 'sent' : 'left out';
    },
  };
  await deps.streams.open(caller, request, () => outlet);
  return outlet;
}

interface OfEvent {
  readonly decisionId: string;
  /** The person who approved or refused. */
  readonly approverId?: string;
}

/** Whether an approver hears of an event. Nobody does who is absent, or who gave the first of two approvals. */
async function concerns(
  { db, clock }: FollowDeps,
  caller: Caller,
  type: string,
  { decisionId, approverId: actor }: OfEvent,
): Promise<boolean> {
  const at = clock();
  const { approverId } = approverIn(caller);
  if (type === 'decision.first_approval' && actor === approverId) return false;
  const row = await findDecision(db, caller, decisionId);
  const all = await listAllApprovers(db, caller.tenant);
  const self = all.find(({ id }) => id === approverId);
  if (!row || !self || isAbsentAt(self, at)) return false;
  return (
    row.routed.includes(approverId) ||
    eligibleOf(all, row.routed, at).some((one) => one.row.id === approverId)
  );
}
