import { issuer as plainUrl } from '../../../config/addresses.ts';
import { boolean, oneOf, pathOf } from '../../../config/readers.ts';
import { defaulted, optional, type ValuesOf } from '../../../config/setting.ts';
import type { Caller } from '../../../platform/caller.ts';
import { beforeTransaction, type Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { UrlRules } from '../../../platform/egress/urls.ts';
import { definePart } from '../../../platform/parts.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { askCedar } from './cedar.ts';
import {
  type Backend,
  type OutsideAnswer,
  type OutsideFacts,
  questionOf,
  readAnswer,
} from './outside.rules.ts';

/** A decision point of the operator, which is asked after the policies of the developer. */
export interface OutsidePoint {
  readonly backend: Backend;
  /** @returns undefined when it gave no answer and only the policies of the developer decide */
  ask(facts: OutsideFacts): Promise<OutsideAnswer | undefined>;
}

interface Opening {
  readonly db: Executor;
  readonly logger?: Logger;
  readonly openEgress: (
    rules: UrlRules,
    bounds: { readonly timeoutMilliseconds: number; readonly mostBytes: number },
  ) => Egress;
}

/** Undefined with `POLICY_BACKEND=builtin`. */
export const decisionPoint = definePart<OutsidePoint | undefined>('the decision point of policies');

const BOUNDS = { timeoutMilliseconds: 5000, mostBytes: 262_144 };
/** The operator names the address, which is often one of the own network. */
const RULES = { allowsHttp: true, allowsPrivateHosts: true };

const UNAVAILABLE: OutsideAnswer = { effect: 'deny', reason: 'backend_unavailable' };

/** @returns undefined with `POLICY_BACKEND=builtin` */
export function outsidePoint(
  { db, openEgress, logger }: Opening,
  settings: ValuesOf<typeof policySettings>,
): OutsidePoint | undefined {
  const { POLICY_BACKEND: backend, OPA_URL, CEDAR_URL } = settings;
  if (backend === 'builtin') return undefined;
  if (backend === 'cedar_bundles') {
    const otherwise = settings.CEDAR_FALLBACK_TO_BUILTIN ? undefined : UNAVAILABLE;
    return { backend: 'cedar', ask: async (facts) => (await askCedar({ db, logger }, facts)) ?? otherwise };
  }
  const isOpa = backend === 'opa';
  const url = isOpa ? `${OPA_URL}/v1/data/${settings.OPA_PATH}` : `${CEDAR_URL}/v1/is_authorized`;
  const fallsBack = isOpa ? settings.OPA_FALLBACK_TO_BUILTIN : settings.CEDAR_FALLBACK_TO_BUILTIN;
  const egress = openEgress(RULES, BOUNDS);
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  return {
    backend,
    async ask(facts) {
      const body = JSON.stringify(questionOf(backend, facts));
      const got = await egress.ask({ url, method: 'POST', headers, body });
      const answer = got.status === 200 ? readAnswer(backend, String(got.body)) : undefined;
      if (answer) return answer;
      const reason = got.failure ?? (got.status === 200 ? 'malformed' : `status ${got.status}`);
      logger?.warn({ backend, reason }, 'the decision point of policies gave no usable answer');
      return fallsBack ? undefined : UNAVAILABLE;
    },
  };
}

/** Asks a decision point while no transaction is open. @throws BeforeTransaction */
export function askBefore(
  db: Executor,
  caller: Caller,
  outside: OutsidePoint,
  facts: OutsideFacts,
): Promise<OutsideAnswer | undefined> {
  const { at: _, ...asked } = facts; // a second run is a moment later
  const question = JSON.stringify(questionOf(outside.backend, { ...asked, at: new Date(0) }));
  return beforeTransaction(db, caller, question, () => outside.ask(facts));
}

/** Whether Cedar decides in the service, with the active bundle of each developer. */
export const cedarInService = definePart<boolean>('whether Cedar decides in the service');

const fallback = (name: string) =>
  defaulted(
    boolean,
    'false',
    `Whether the policies of the developer decide alone while ${name} does not answer. Otherwise such requests are denied.`,
  );

export const policySettings = {
  POLICY_BACKEND: defaulted(
    oneOf('builtin', 'opa', 'cedar', 'cedar_bundles'),
    'builtin',
    'The decision point that is asked after the policies of the developer: none, Open Policy Agent, a Cedar agent, or Cedar in the service with the active bundle of the developer.',
  ),
  OPA_URL: optional(plainUrl, 'unset', 'The base URL of Open Policy Agent, without a trailing slash.'),
  OPA_PATH: defaulted(
    pathOf('behest/authz'),
    'behest/authz',
    'The path of the decision in the data of Open Policy Agent.',
  ),
  OPA_FALLBACK_TO_BUILTIN: fallback('Open Policy Agent'),
  CEDAR_URL: optional(plainUrl, 'unset', 'The base URL of a Cedar agent, without a trailing slash.'),
  CEDAR_FALLBACK_TO_BUILTIN: fallback('Cedar'),
};
