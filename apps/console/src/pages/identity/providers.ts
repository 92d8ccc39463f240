import { walkthroughs } from '../../../../server/src/features/people/setup/page/setup-walkthroughs.js';
import type { Schemas } from '../../api/client.ts';
import { ApiError } from '../../api/errors.ts';

export type Connection = Schemas['SsoConnection'];
export type Protocol = Connection['protocol'];

/** What the wizard knows, in the order in which it offers them. The steps at each are those of the setup page. */
export const PROVIDERS = ['okta', 'entra', 'google', 'keycloak', 'directory'] as const;
export type Provider = (typeof PROVIDERS)[number];

export const STEPS = ['provider', 'there', 'here', 'test', 'people'] as const;
export type Step = (typeof STEPS)[number];

/** A directory has no steps there: it is asked, and asks nothing of the service. */
export const walkthroughOf = (provider: Provider) =>
  provider === 'directory' ? undefined : walkthroughs[provider];

export const protocolsOf = (provider: Provider): readonly Protocol[] =>
  provider === 'directory' ? ['ldap'] : ['oidc', 'saml'];

/** The values that are entered at a provider. A page of the console has the address of the service. */
export const redirectUri = () => `${location.origin}/sso/callback`;
export const acsUrl = () => `${location.origin}/sso/callback/saml`;
export const entityId = () => `${location.origin}/sso/saml`;
export const scimUrl = () => `${location.origin}/scim/v2`;

/** Where a person begins to sign in, and what comes after: the page of the connection, which shows what arrived. */
export const signInUrl = (developerId: string, connectionId: string) =>
  `/sso/login?${new URLSearchParams({
    org: developerId,
    connection: connectionId,
    mode: 'redirect',
    prompt: 'login',
    return_to: `/console/identity/${connectionId}`,
  })}`;

/** What a form of this folder says of a field: nothing where it was left empty. */
export const entered = (form: FormData, name: string): string | undefined =>
  String(form.get(name) ?? '').trim() || undefined;

export const words = (text: string | undefined): string[] => (text ?? '').split(/[\s,]+/).filter(Boolean);

/** The members that have a value. */
export const present = <Members extends object>(members: Members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>; // those without a value are gone
  };

/** What was never set answers 404, which is no fault here. */
export const isUnset = (error: unknown) => error instanceof ApiError && error.status === 404;
