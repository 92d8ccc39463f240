import { canonicalJson } from '@behest/protocol/canonical-json';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { namedConnectors } from '@behest/protocol/tool-scopes';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { pageLanguage, sayIn } from '../../../platform/languages.ts';
import { getShownAgent } from '../../accounts/agents/agents.queries.ts';
import { clientOfRequest, storedBudget } from '../authorization/index.ts';
import { grantStatus } from '../grants/index.ts';
import { type ConsentPins, storedPins } from '../manifests/index.ts';
import { findCurrentTools, findPinnedTools } from '../manifests/manifests.queries.ts';
import { pinsOfWords, scopesInWords, storedScopePins, type WordsOfScopes } from '../resources/index.ts';
import type { ConsentRow } from './consent.repo.ts';
import { countOtherActive, findLastConsent } from './consent.repo.ts';
import type { ConsentVerification, PreviousConsent } from './consent.schema.ts';
import {
  type Diff,
  difference,
  hostOf,
  type ShownAgent,
  type ShownManifestOf,
  type Terms,
} from './diff.rules.ts';

/** A consent that is older is no longer what the person has in mind. */
const REMEMBERED_MS = 400 * 86_400_000;

interface PreviousDeps {
  readonly db: Executor;
  readonly clock: Clock;
}

/** The last consent as the page shows it, and the difference to it. Both are null where the page may show none. */
export interface PreviousConsentView {
  readonly previous: PreviousConsent | null;
  readonly diff: Diff | null;
  /** The grant that the approval ends. */
  readonly replacesGrantId: string | null;
}

const NOTHING: PreviousConsentView = { previous: null, diff: null, replacesGrantId: null };

interface Shown {
  readonly verification: ConsentVerification;
  readonly pins: ConsentPins | null;
  /** Of the resources, for the scopes. */
  readonly words: WordsOfScopes;
  /** `Accept-Language` of the person's browser. */
  readonly languages: string | undefined;
}

/**
 * Compares the request with the person's last consent to the same agent. Only a person who is known sees it: the holder of
 * a link that has leaked learns nothing.
 */
export async function previousConsent(
  deps: PreviousDeps,
  row: ConsentRow,
  { verification, pins, words, languages }: Shown,
): Promise<PreviousConsentView> {
  const { db, clock } = deps;
  if (!verification.satisfied || verification.mode === 'link') return NOTHING;
  const { replacesGrantId } = row;
  const last = await lastConsent(deps, row);
  if (!last) return { ...NOTHING, replacesGrantId };
  const at = clock();
  const tenant = { developerId: row.developerId };
  const agreed = storedPins(last.manifests)?.pins ?? [];
  const asked = pins?.pins ?? [];
  const [otherActive, agreedTools, askedTools, agent] = await Promise.all([
    countOtherActive(db, tenant, row, { grantId: last.id, at }),
    findPinnedTools(db, tenant, agreed),
    findCurrentTools(db, tenant, namedConnectors(row.scopes)),
    getShownAgent(db, tenant, row.agentId),
  ]);
  const before = termsOf(last, last.shownAgent, {
    manifests: manifestsOf(agreed, agreedTools),
    words: storedScopePins(last.scopeWords),
  });
  const after = termsOf(row, agent, { manifests: manifestsOf(asked, askedTools), words: pinsOfWords(words) });
  const own = Object(row.scopeDescriptions);
  const inWords = (scope: string) => scopesInWords([scope], { own, words, languages })[0]?.text ?? scope;
  const language = pageLanguage(languages);
  return {
    previous: {
      grantId: last.id,
      issuedAt: last.issuedAt.toISOString(),
      status: grantStatus(last, at),
      expiresAt: last.expiresAt.toISOString(),
      scopes: last.scopes,
      otherActive,
    },
    diff: difference(before, after, { inWords, language, say: sayIn(language) }),
    replacesGrantId,
  };
}

/** The grant of the last consent, which the person's passkey signs too. */
export function lastConsent({ db, clock }: PreviousDeps, row: ConsentRow) {
  const at = clock();
  const since = new Date(at.getTime() - REMEMBERED_MS);
  const { developerId, replacesGrantId } = row;
  return findLastConsent(db, { developerId }, row, { at, since, replacesGrantId });
}

type ConsentTerms = Pick<
  ConsentRow,
  | 'scopes'
  | 'authorizationDetails'
  | 'purpose'
  | 'audience'
  | 'redirectUri'
  | 'budgetAmount'
  | 'budgetUnits'
  | 'budgetCurrency'
  | 'expiresIn'
  | 'client'
>;

function termsOf(asked: ConsentTerms, agent: unknown, pinned: Pick<Terms, 'manifests' | 'words'>): Terms {
  const { redirectUri } = asked;
  return {
    scopes: asked.scopes,
    entries: toolsEntries(storedEntries(asked.authorizationDetails)),
    purpose: asked.purpose,
    budget: storedBudget(asked) ?? null,
    lifetime: asked.expiresIn,
    audience: asked.audience,
    redirectHost: redirectUri === null ? null : hostOf(redirectUri),
    agent: agent === null ? null : shownAgentOf(Object(agent), asked.client),
    ...pinned,
  };
}

/** The agent as the page shows it: a client that describes itself has its own name there. */
function shownAgentOf(
  { name, publicKeyJwk, ...texts }: Awaited<ReturnType<typeof getShownAgent>>,
  asked: unknown,
): ShownAgent {
  const client = clientOfRequest(asked);
  return {
    name: client?.name ?? name,
    ...texts,
    key: publicKeyJwk === null ? null : canonicalJson(Object(publicKeyJwk)),
    client: client && [client.vouchedBy, client.host].filter(Boolean).join(' '),
  };
}

function manifestsOf(
  pins: ConsentPins['pins'],
  tools: ReadonlyMap<string, ShownManifestOf['tools']>,
): Terms['manifests'] {
  return new Map(pins.map(({ connector, sha256 }) => [connector, { sha256, tools: tools.get(connector) }]));
}
