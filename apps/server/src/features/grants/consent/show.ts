import { argumentLimits } from '@behest/protocol/arguments/limits';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { ruleWordsIn } from '@behest/protocol/rule-words';
import { namedConnectors } from '@behest/protocol/tool-scopes';
import { purposeLabel, wantedLanguages } from '@behest/protocol/words';
import { pageLanguage, sayIn } from '../../../platform/languages.ts';
import { profileOf } from '../../accounts/agents/agents.queries.ts';
import { brandingIn } from '../../accounts/developers/developers.queries.ts';
import {
  type AuthorizationDeps,
  budgetOf,
  clientOfRequest,
  LATE_SECONDS,
  pinsFor,
  type ShownManifest,
  shownKey,
} from '../authorization/index.ts';
import { type ConsentPins, toolsInWords } from '../manifests/index.ts';
import { findPinnedTools } from '../manifests/manifests.queries.ts';
import { hashOfWords, scopesInWords, type WordsOfScopes } from '../resources/index.ts';
import type { ConsentRow } from './consent.repo.ts';
import type { ConsentApproval, ConsentRequest, ConsentVerification } from './consent.schema.ts';
import { hostOf } from './diff.rules.ts';
import type { PreviousConsentView } from './previous.ts';

interface Session {
  readonly csrfToken: string;
  readonly verification: ConsentVerification;
  /** The manifests as they are now; null where the scopes name no connector. */
  readonly pins: ConsentPins | null;
  readonly tools: ConsentRequest['tools'];
  /** Of the resources, for the scopes. */
  readonly words: WordsOfScopes;
  /** The last consent, and the difference to it. */
  readonly before: PreviousConsentView;
  readonly languages: string | undefined;
}

/** The request as the page shows it. */
export function shownRequest(
  row: ConsentRow,
  { csrfToken, verification, pins, tools, words, before, languages }: Session,
): ConsentRequest {
  const budget = budgetOf(row);
  const { purpose, audience, redirectUri, authorizationDetails } = row;
  const said = scopesInWords(row.scopes, { own: Object(row.scopeDescriptions), words, languages });
  const client = clientOf(row);
  const language = pageLanguage(languages);
  const say = sayIn(language);
  return {
    id: row.id,
    status: 'pending',
    developerName: row.developerName,
    ...brandingIn(row),
    agentId: row.agentId,
    ...profileOf(row),
    agentName: client?.name ?? row.agentName,
    ...(client && { client }),
    principalId: row.principalId,
    scopes: row.scopes,
    scopeDescriptions: said.map(({ text }) => text),
    scopeExplanations: said.map(({ description }) => description),
    scopeWordsSha256: hashOfWords(words),
    ...(purpose !== null && { purpose, purposeLabel: purposeLabel(purpose, say) }),
    ...(Array.isArray(authorizationDetails) && { authorizationDetails }),
    manifests: manifestsIn(row.scopes, pins),
    argumentLimits: argumentLimits(authorizationDetails, ruleWordsIn(language, say)),
    tools,
    ...(budget && { budget }),
    grantExpiresIn: row.expiresIn,
    ...(audience !== null && { audience }),
    ...(redirectUri !== null && { redirectHost: hostOf(redirectUri) }),
    ...(row.channel !== null && { channel: row.channel }),
    ...(row.comparedText !== null && { comparedText: row.comparedText }),
    expiresAt: row.expiresAt.toISOString(),
    sandbox: row.developerMode === 'sandbox',
    fidoRequired: row.consentMode === 'passkey',
    previous: before.previous,
    replacesGrantId: before.replacesGrantId,
    diff: before.diff && { ...before.diff, items: [...before.diff.items] },
    csrfToken,
    verification,
  };
}

function manifestsIn(scopes: readonly string[], pins: ConsentPins | null): ConsentRequest['manifests'] {
  return namedConnectors(scopes).map((connector) => {
    const found = pins?.pins.find((pin) => pin.connector === connector);
    const { version = null, sha256 = null } = found ?? {};
    return { connector, version, sha256, pinned: found !== undefined && pins?.mode !== 'off' };
  });
}

interface Beside {
  readonly budget: object | null;
  readonly manifests: readonly ShownManifest[];
  /** The grant of the person's last consent to the agent. */
  readonly previousGrantId: string | null;
  /** Of the resources, for the scopes. */
  readonly words: WordsOfScopes;
  /** `Accept-Language` */
  readonly languages: string | undefined;
}

/**
 * The request as its person sees it, and the part of it that they choose. Their passkey signs its hash, and it stays with
 * the approval, so it has every member in every case.
 */
export function signedRequest(
  row: ConsentRow,
  { budget, manifests, words, previousGrantId, languages }: Beside,
  chosen: ConsentApproval,
) {
  const said = scopesInWords(row.scopes, { own: Object(row.scopeDescriptions), words, languages });
  const { scopes = row.scopes, expiresIn = row.expiresIn, tools = null, arguments: rules = null } = chosen;
  return {
    shown: {
      authRequestId: row.id,
      agentId: row.agentId,
      ...profileOf(row),
      agentName: clientOf(row)?.name ?? row.agentName,
      client: clientOf(row),
      developerName: row.developerName,
      purpose: row.purpose,
      audience: row.audience,
      redirectHost: row.redirectUri === null ? null : hostOf(row.redirectUri),
      channel: row.channel,
      comparedText: row.comparedText,
      scopes: row.scopes,
      scopeDescriptions: said.map(({ text }) => text),
      scopeWordsSha256: hashOfWords(words),
      authorizationDetails: row.authorizationDetails ?? null,
      budget,
      expiresIn: row.expiresIn,
      language: pageLanguage(languages),
      sandbox: row.developerMode === 'sandbox',
      manifests: manifests.toSorted((one, other) => (one.connector < other.connector ? -1 : 1)),
      previous: previousGrantId && { grantId: previousGrantId },
      replacesGrantId: row.replacesGrantId,
    },
    principalId: row.principalId,
    decision: {
      scopes,
      removedScopes: row.scopes.filter((scope) => !scopes.includes(scope)),
      expiresIn,
      tools,
      arguments: rules,
    },
  };
}

/** The client as it described itself when it asked. */
function clientOf(row: ConsentRow): NonNullable<ConsentRequest['client']> | null {
  const client = clientOfRequest(row.client);
  if (!client) return null;
  const { name, vouchedBy, host, isLocal, resourceNames } = client;
  return { name, vouchedBy, host, isLocal, resourceNames: [...resourceNames] };
}

type ManifestSubject = Pick<ConsentRow, 'id' | 'developerId' | 'scopes' | 'expiresAt'>;

/**
 * Reads the manifests for the page, and remembers them as shown. They have an entry of their own in the store, because a
 * proof that comes at the same time is written into the session.
 */
export async function showManifests(
  { db, store, clock }: AuthorizationDeps,
  row: ManifestSubject,
): Promise<ConsentPins | null> {
  const pins = await pinsFor(db, row, row.scopes);
  if (!pins) return null;
  const value = JSON.stringify(pins.pins.map(({ connector, sha256 }) => ({ connector, sha256 })));
  const seconds = Math.ceil((row.expiresAt.getTime() - clock().getTime()) / 1000) + LATE_SECONDS;
  await store.put([{ key: shownKey(row.id), value, seconds }]);
  return pins;
}

interface WordsOf {
  readonly pins: ConsentPins | null;
  readonly languages: string | undefined;
}

/** The tools in the words of the versions whose hashes the page shows, and the person's approval names. */
export async function toolsOf(
  { db }: Pick<AuthorizationDeps, 'db'>,
  { developerId, scopes, authorizationDetails }: ConsentRow,
  { pins, languages }: WordsOf,
): Promise<ConsentRequest['tools']> {
  const tools = await findPinnedTools(db, { developerId }, pins?.pins ?? []);
  const entries = toolsEntries(storedEntries(authorizationDetails));
  return toolsInWords({ scopes, entries }, tools, wantedLanguages(languages));
}

/**
 * The manifests under which the person decides, one for each connector: as the page says, and otherwise as the service
 * showed them last. Where the store has lost that, none counts as shown, and the person has to look again.
 */
export async function manifestsAsShown(
  { store }: Pick<AuthorizationDeps, 'store'>,
  { id, scopes }: ManifestSubject,
  said: readonly ShownManifest[] = [],
): Promise<ShownManifest[]> {
  const connectors = namedConnectors(scopes);
  if (connectors.length === 0) return [...said];
  const kept = await store.get(shownKey(id));
  const served: readonly ShownManifest[] = kept === undefined ? [] : JSON.parse(kept);
  const known = new Map([...served, ...said].map(({ connector, sha256 }) => [connector, sha256]));
  for (const connector of connectors) if (!known.has(connector)) known.set(connector, null);
  return [...known].map(([connector, sha256]) => ({ connector, sha256 }));
}
