import { argumentLimits } from '@behest/protocol/arguments/limits';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { type RuleWords, ruleWordsIn } from '@behest/protocol/rule-words';
import { namedConnectors } from '@behest/protocol/tool-scopes';
import { purposeLabel, wantedLanguages } from '@behest/protocol/words';
import type { PrincipalSession } from '../../../platform/caller.ts';
import { pageLanguage, type Say, sayIn } from '../../../platform/languages.ts';
import { byId, pageOf } from '../../../platform/paging.ts';
import { noProfile, profileOf } from '../../accounts/agents/agents.queries.ts';
import { budgetsOfGrants } from '../../grants/budgets/index.ts';
import { grantStatus } from '../../grants/grants/index.ts';
import { toolsInWords } from '../../grants/manifests/index.ts';
import { findCurrentTools } from '../../grants/manifests/manifests.queries.ts';
import { scopesInWords } from '../../grants/resources/index.ts';
import { scopeWordsByAudience } from '../../grants/resources/resources.queries.ts';
import { listOwnEntryRows, listOwnGrantRows, type OwnEntryRow, type OwnGrantRow } from './principals.repo.ts';
import type { OwnEntry, OwnEntryQuery, OwnGrant, OwnGrantPage, OwnGrantQuery } from './principals.schema.ts';
import { type PrincipalDeps, sessionEnded } from './session.ts';

/** @throws UNAUTHORIZED when the session has ended */
export async function listOwnGrants(
  deps: PrincipalDeps,
  session: PrincipalSession,
  { languages, ...query }: OwnGrantQuery & { readonly languages?: string | undefined },
): Promise<OwnGrantPage> {
  const now = deps.clock();
  const found = await listOwnGrantRows(deps.db, session, query, now);
  if (!found) throw sessionEnded();
  const ids = found.grants.rows.map(({ id }) => id);
  const budgets = await budgetsOfGrants(deps.db, session.tenant, ids);
  const named = new Set(found.grants.rows.flatMap(({ scopes }) => namedConnectors(scopes)));
  const tools = await findCurrentTools(deps.db, session.tenant, [...named].slice(0, MAX_CONNECTORS));
  const wanted = wantedLanguages(languages);
  const all = found.grants.rows.flatMap(({ scopes }) => scopes);
  const wordsFor = await scopeWordsByAudience(deps.db, session.tenant, all);
  const own = Object(found.scopeDescriptions);
  const language = pageLanguage(languages);
  const say = sayIn(language);
  const rules = ruleWordsIn(language, say);
  const { page, nextCursor } = pageOf(found.grants, byId, (row) => ({
    ...toOwnGrant(row, { say, rules, now }),
    ...descriptionsIn(row, { own, words: wordsFor(row.audience), languages, say }),
    tools: toolsInWords({ scopes: row.scopes, entries: entriesOf(row) }, tools, wanted),
    ...budgets.get(row.id),
  }));
  return {
    grants: page,
    principalId: session.principalId,
    developerName: found.developerName,
    ...(found.branding && { branding: found.branding }),
    sandbox: found.mode === 'sandbox',
    sessionExpiresAt: found.sessionExpiresAt.toISOString(),
    nextCursor,
  };
}

/** @returns the JSON text of the answer @throws UNAUTHORIZED when the session has ended */
export async function listOwnEntries(
  deps: PrincipalDeps,
  session: PrincipalSession,
  query: OwnEntryQuery,
): Promise<string> {
  const rows = await listOwnEntryRows(deps.db, session, query, deps.clock());
  if (!rows) throw sessionEnded();
  const { page, nextCursor } = pageOf(rows, byId, (row) => ownEntryText(row, session.principalId));
  return `{"entries":[${page.join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}`;
}

/** A manifest may have a megabyte. The tools of further connectors are shown by their names. */
const MAX_CONNECTORS = 20;

const entriesOf = ({ authorizationDetails }: OwnGrantRow) =>
  toolsEntries(storedEntries(authorizationDetails));

function descriptionsIn({ scopes }: OwnGrantRow, reader: Parameters<typeof scopesInWords>[1]) {
  const said = scopesInWords(scopes, reader);
  return {
    scopeDescriptions: said.map(({ text }) => text),
    scopeExplanations: said.map(({ description }) => description),
  };
}

type InWords = 'tools' | 'scopeDescriptions' | 'scopeExplanations';

interface Reading {
  readonly say: Say;
  readonly rules: RuleWords;
  readonly now: Date;
}

function toOwnGrant(row: OwnGrantRow, { say, rules, now }: Reading): Omit<OwnGrant, InWords> {
  const { revokedAt, revokedReason, parentGrantId, audience, purpose } = row;
  return {
    grantId: row.id,
    agentId: row.agentId,
    ...(row.agentStatus === 'revoked' ? noProfile : profileOf(row)),
    scopes: row.scopes,
    status: grantStatus(row, now),
    issuedAt: row.issuedAt.toISOString(),
    expiresAt: row.expiresAt.toISOString(),
    ...(revokedAt && { revokedAt: revokedAt.toISOString() }),
    ...(revokedReason && { revokedReason }),
    delegationDepth: row.delegationDepth,
    ...(parentGrantId && { parentGrantId }),
    ...(purpose && { purpose, purposeLabel: purposeLabel(purpose, say) }),
    ...(audience && { audience }),
    argumentLimits: argumentLimits(row.authorizationDetails, rules),
    ...(row.isUnverified && { unverified: true as const }),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  };
}

/**
 * The JSON text of an entry. It leaves the salt out, because only a reader of everything that was hashed may have it.
 */
function ownEntryText(row: OwnEntryRow, principalId: string): string {
  const members: Omit<OwnEntry, 'metadata'> = {
    entryId: row.id,
    agentId: row.agentId,
    agentDid: row.agentDid,
    agentName: row.agentName,
    grantId: row.grantId,
    principalId,
    action: row.action,
    status: row.status,
    purpose: row.purpose,
    timestamp: row.at.toISOString(),
    hash: row.hash.toString('hex'),
  };
  return `${JSON.stringify(members).slice(0, -1)},"metadata":${row.metadata}}`;
}
