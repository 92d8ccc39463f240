import { ProxyRule, ProxyWord } from '@behest/protocol/proxy-rules';
import { Id, NextCursor, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const PLAIN = { additionalProperties: false } as const;
const HeaderName = Type.String({ pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$" });
const HeaderValue = Type.String({ pattern: '^[\\x20-\\x7e]{0,1024}$' });
const MILLION = 1_000_000;

/** How the upstream wants the credential. */
export type ProxyInjection = Static<typeof ProxyInjection>;
export const ProxyInjection = Type.Union([
  Type.Object({ style: Type.Literal('bearer') }, PLAIN),
  Type.Object(
    {
      style: Type.Literal('basic'),
      /** With it the credential is the password; without it, the credential is `user:password`. */
      username: Type.Optional(Type.String({ pattern: '^[^:\\x00-\\x1f\\x7f]{1,256}$' })),
    },
    PLAIN,
  ),
  Type.Object({ style: Type.Literal('header'), name: HeaderName, prefix: Type.Optional(HeaderValue) }, PLAIN),
  Type.Object(
    {
      style: Type.Literal('query'),
      name: Type.String({ pattern: '^[A-Za-z0-9._~-]{1,64}$' }),
      /** Logs and caches of the upstream may keep the URL, with the credential in it. */
      acknowledgeUrlRisk: Type.Literal(true),
    },
    PLAIN,
  ),
]);

const members = {
  /** Aliases and origins. The first is the default. */
  upstreams: recordOf(ProxyWord, Type.String({ minLength: 1, maxLength: 300 }), { maxProperties: 5 }),
  inject: ProxyInjection,
  /** Constant headers of each request. */
  headers: Type.Optional(recordOf(HeaderName, HeaderValue, { maxProperties: 10 })),
  /** The first rule that matches decides. Without one the request is refused. */
  rules: Type.Array(ProxyRule, { minItems: 1, maxItems: 100 }),
  exchange: Type.Enum(['allowed', 'proxy_only'], { default: 'allowed' }),
  perMinute: Type.Optional(Type.Integer({ minimum: 1, maximum: MILLION })),
  maxRequestBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_073_741_824 })),
  maxResponseBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_073_741_824 })),
  timeoutSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 300 })),
  forwardHeaders: Type.Optional(Type.Array(HeaderName, { maxItems: 20 })),
  returnHeaders: Type.Optional(Type.Array(HeaderName, { maxItems: 20 })),
};

export type NewProxyProfile = Static<typeof NewProxyProfile>;
export const NewProxyProfile = Type.Object(members, PLAIN);

const { exchange: _, ...others } = members;
export type ProxyProfile = Static<typeof ProxyProfile>;
export const ProxyProfile = Type.Object({
  service: Type.String(),
  version: Type.Integer(),
  ...others,
  exchange: Type.Enum(['allowed', 'proxy_only']),
  warnings: Type.Array(Type.Object({ code: Type.Literal('credential_in_url') })),
  createdAt: Time,
  updatedAt: Time,
});

export const ProfilePath = Type.Object({ service: Id });

export type ProfileQuery = Static<typeof ProfileQuery>;
export const ProfileQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  /** The service of the page's last profile. */
  cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' })),
});

export type ProxyProfilePage = Static<typeof ProxyProfilePage>;
export const ProxyProfilePage = Type.Object({ profiles: Type.Array(ProxyProfile), nextCursor: NextCursor });

/** `path` stands for the path at the upstream, with slashes, and its query. */
export const CallPath = Type.Object({ service: Id, path: Type.String() });

const Nullable = <T extends ReturnType<typeof Type.Integer> | ReturnType<typeof Type.String>>(shape: T) =>
  Type.Union([shape, Type.Null()]);

export type ProxyCall = Static<typeof ProxyCall>;
export const ProxyCall = Type.Object({
  callId: Type.String(),
  agentId: Type.String(),
  grantId: Type.String(),
  credentialId: Type.String(),
  service: Type.String(),
  upstream: Type.String(),
  method: Type.String(),
  rule: Type.String(),
  tool: Nullable(Type.String()),
  /** Null when the upstream did not answer, or when the process ended first. */
  status: Nullable(Type.Integer()),
  outcome: Nullable(Type.String()),
  responseBytes: Nullable(Type.Integer()),
  durationMs: Nullable(Type.Integer()),
  createdAt: Time,
});

export type PassedQuery = Static<typeof PassedQuery>;
export const PassedQuery = Type.Object({
  ...pageQuery('pcall'),
  service: Type.Optional(Type.String({ maxLength: 64 })),
  agentId: Type.Optional(Id),
  grantId: Type.Optional(Id),
  outcome: Type.Optional(Type.String({ maxLength: 32 })),
});

export type ProxyCallPage = Static<typeof ProxyCallPage>;
export const ProxyCallPage = Type.Object({ calls: Type.Array(ProxyCall), nextCursor: NextCursor });
