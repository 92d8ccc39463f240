import { type Authentication, authenticationOf } from '@behest/protocol/authentication';
import { canonicalJson } from '@behest/protocol/canonical-json';
import type { IssuedEntry } from '@behest/protocol/caps-lineage';
import { storedEntries, toolsEntries } from '@behest/protocol/caps-lineage';
import { type InvalidGrantReason, invalidGrantReasons } from '@behest/protocol/errors';
import { namesResource } from '@behest/protocol/resource-uri';
import { uncovered } from '@behest/protocol/scopes';
import { reachesConnector } from '@behest/protocol/tool-scopes';
import { AppError, oauthRefusal } from '../../../platform/errors.ts';

/** Why a code or token cannot be used. */
export type GrantRefusal = Exclude<InvalidGrantReason, 'grant_unknown'>;

export const invalidGrant = (reason: InvalidGrantReason) =>
  new AppError('INVALID_GRANT', invalidGrantReasons[reason], { reason });

/** `ref_`, a ULID that finds the row, and 43 characters that cannot be guessed. */
const REFRESH_TOKEN = /^(ref_[0-9A-HJKMNP-TV-Z]{26})[A-Za-z0-9_-]{43}$/;
export const refreshIdOf = (refreshToken: string): string | undefined =>
  REFRESH_TOKEN.exec(refreshToken)?.[1];

/** A token's times are whole seconds. Its stored end is too, because the two are compared. */
export const wholeSecond = (milliseconds: number) => new Date(Math.floor(milliseconds / 1000) * 1000);

/**
 * The entries of a grant as its audit entry keeps them. Rules nest deeper than an entry may, so each tool's rules are a
 * text: canonical JSON, which gives the same text for the same rules.
 */
export function recordedDetails(details: unknown): { readonly authorizationDetails?: readonly object[] } {
  const entries = toolsEntries(storedEntries(details)).map(({ arguments: rules, ...entry }) => ({
    ...entry,
    ...(rules && { arguments: canonicalJson(rules) }),
  }));
  return entries.length > 0 ? { authorizationDetails: entries } : {};
}

/** The parts of a token that its grant has otherwise. A member that is absent is as the grant has it. */
export interface TokenOverrides {
  readonly scopes?: readonly string[];
  readonly audience?: string;
  /** The sign-in of the person that the token states. */
  readonly authentication?: Authentication;
  /** Narrower entries. */
  readonly details?: readonly IssuedEntry[];
  /** The key whose proof each use of the token needs. */
  readonly keyThumbprint?: string;
  /** The key whose proof each use of the refresh token needs. */
  readonly refreshKeyThumbprint?: string;
}

/** What an OAuth client asks for in one token. */
export interface RequestedToken {
  /** Fewer scopes than the grant has. */
  readonly scopes?: readonly string[];
  /** Some of the resources that were approved. */
  readonly resources?: readonly string[];
  readonly keyThumbprint?: string;
  /** Whether the refresh token is bound to the key too: that of a client without a secret. */
  readonly bindsRefresh: boolean;
}

/** Several audiences are stored as one text, as `scope` is: no audience has a space in it. */
export const audiencesOf = (audience: string): string[] => audience.split(' ');

/** The claim `aud`: a text for one audience, an array for several. */
export function audClaim(audience: string): string | string[] {
  const all = audiencesOf(audience);
  return all.length === 1 ? audience : all;
}

/** The grant for whose token a client has wishes. */
interface FormedGrant {
  readonly scopes: readonly string[];
  readonly audience: string | null;
  readonly authenticatedAt: Date | null;
  readonly authMethods: readonly string[] | null;
}

/**
 * The form of a token for an OAuth client, whose audience is never absent (RFC 9068 §2.2).
 * @throws invalid_scope, invalid_target
 */
export function tokenOverrides(
  requested: RequestedToken | undefined,
  grant: FormedGrant,
  issuer: string,
): TokenOverrides {
  if (!requested) return {};
  const { scopes, resources = [], keyThumbprint, bindsRefresh } = requested;
  if (scopes && uncovered(grant.scopes, scopes).length > 0) {
    throw oauthRefusal('invalid_scope', 'Ask only for scopes that the grant has.');
  }
  const approved = grant.audience === null ? [] : audiencesOf(grant.audience);
  // The token spells its resources as the grant does, and so as the developer registered them.
  const wanted = approved.filter((each) => namesResource(resources, each));
  if (!resources.every((each) => namesResource(approved, each))) {
    throw oauthRefusal('invalid_target', 'Ask only for resources that were approved.');
  }
  const authentication = authenticationOf(grant);
  const isWhole = wanted.length === 0 || wanted.length === approved.length;
  const audience = isWhole ? (grant.audience ?? issuer) : wanted.join(' ');
  return {
    ...(scopes && { scopes }),
    ...(audience !== grant.audience && { audience }),
    ...(authentication && { authentication }),
    ...(keyThumbprint !== undefined && { keyThumbprint }),
    ...(keyThumbprint !== undefined && bindsRefresh && { refreshKeyThumbprint: keyThumbprint }),
  };
}

/** The members of `GrantClaims` for a sign-in. */
export const authenticationClaims = (known: Authentication | undefined) => ({
  ...(known && { authenticatedAt: known.at }),
  ...(known && known.methods.length > 0 && { authenticationMethods: [...known.methods] }),
});

/**
 * The entries that limit a token: its own, and those of its grant for other connectors. A token with fewer scopes lacks
 * entries, and the limits of a connector hold at the vault whichever scope leads there.
 */
export function limitsOf(own: unknown, ofGrant: unknown): unknown[] | null {
  const [mine, others] = [own, ofGrant].map((details) => (Array.isArray(details) ? details : []));
  const named = new Set(mine?.map((entry) => Object(entry).connector));
  const all = [...(mine ?? []), ...(others ?? []).filter((entry) => !named.has(Object(entry).connector))];
  return all.length > 0 ? all : null;
}

/** The entries of a token with fewer scopes than its grant: those of connectors that its scopes still reach. */
export function detailsWithin(details: unknown, scopes: readonly string[]): unknown[] | null {
  if (!Array.isArray(details)) return null;
  const kept = details.filter((entry) => {
    const { connector } = Object(entry);
    return connector === undefined || reachesConnector(scopes, String(connector));
  });
  return kept.length > 0 ? kept : null;
}
