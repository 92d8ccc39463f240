import { Id, Time } from '@behest/protocol/shapes';
import { type Static, type TSchema, Type } from 'typebox';
import { groupMembers } from './sso.schema.ts';

const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);
const Short = Type.String({ minLength: 1, maxLength: 256 });
const Url = Type.String({ minLength: 1, maxLength: 2048 });
/** Codes are opaque, and some providers put a whole session into theirs. */
const Code = Type.String({ maxLength: 8192 });
const Issuer = Type.String({ maxLength: 2048 });
const State = Type.String({ minLength: 1, maxLength: 128 });

export type LoginQuery = Static<typeof LoginQuery>;
export const LoginQuery = Type.Object({
  org: Short,
  domain: Type.Optional(Type.String({ maxLength: 256 })),
  connection: Type.Optional(Short),
  redirect_uri: Type.Optional(Url),
  return_to: Type.Optional(Url),
  login_hint: Type.Optional(Short),
  mode: Type.Optional(Type.Enum(['json', 'redirect'])),
  /** `login` asks the provider to identify the person again, also where it has a session. */
  prompt: Type.Optional(Type.Literal('login')),
  /** The longest time in seconds since the person signed in at the provider; OpenID Connect only. */
  max_age: Type.Optional(Type.Integer({ minimum: 0, maximum: 999_999_999 })),
  ui_locales: Type.Optional(Short),
});

export type SsoLoginStart = Static<typeof SsoLoginStart>;
export const SsoLoginStart = Type.Object({
  authorizeUrl: Type.String(),
  protocol: Type.Enum(['oidc', 'saml', 'ldap']),
  connectionId: Id,
  message: Type.Optional(Type.String()),
});

export const DiscoverQuery = Type.Object({
  domain: Type.Optional(Type.String({ maxLength: 256 })),
  email: Type.Optional(Type.String({ maxLength: 320 })),
});
export const SsoDiscovery = Type.Object({
  org: Id,
  connectionId: Id,
  protocol: Type.Enum(['oidc', 'saml', 'ldap']),
  enforced: Type.Boolean(),
  loginUrl: Type.String(),
});

export type OidcCallback = Static<typeof OidcCallback>;
export const OidcCallback = Type.Object(
  {
    code: Type.Optional(Code),
    state: Type.Optional(State),
    redirect_uri: Type.Optional(Url),
    iss: Type.Optional(Issuer),
  },
  { additionalProperties: true },
);

/** The form that an identity provider makes a browser post. */
export const SamlResponse = Type.Object(
  { SAMLResponse: Type.String({ minLength: 1 }), RelayState: State },
  { additionalProperties: true },
);

export type LdapLogin = Static<typeof LdapLogin>;
export const LdapLogin = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ maxLength: 1024 }),
    connectionId: Id,
    org: Id,
  },
  { additionalProperties: true },
);

export const MetadataPath = Type.Object({ connectionId: Id });

export const OidcQuery = Type.Object({
  code: Type.Optional(Code),
  state: Type.Optional(State),
  iss: Type.Optional(Issuer),
  error: Type.Optional(Type.String({ maxLength: 256 })),
});

/** The parameters of a provider's answer. Those that are not of the protocol are ignored here as in the query. */
export const OidcFormPost = Type.Object(OidcQuery.properties, { additionalProperties: true });

export const DirectoryQuery = Type.Object({
  state: State,
  /** Whether the last password was wrong. */
  failed: Type.Optional(Type.Literal('1')),
});

export type LdapLoginForm = Static<typeof LdapLoginForm>;
export const LdapLoginForm = Type.Object(
  {
    state: State,
    username: Type.String({ minLength: 1, maxLength: 256 }),
    password: Type.String({ maxLength: 1024 }),
  },
  { additionalProperties: false },
);

/** A session that a login opened. */
export type CreatedSsoSession = Static<typeof CreatedSsoSession>;
export const CreatedSsoSession = Type.Object({
  sessionId: Id,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  sub: nullable(Type.String()),
  ...groupMembers,
  principalId: nullable(Type.String()),
  developerId: Id,
  expiresAt: Time,
});

export const LogoutQuery = Type.Object({ return_to: Type.Optional(Url) });

export type SsoLogout = Static<typeof SsoLogout>;
export const SsoLogout = Type.Object({
  /** Whether the browser had a live session. */
  signedOut: Type.Boolean(),
  /** Where the person signs out at the provider, where that publishes it. */
  providerUrl: nullable(Type.String()),
});
