import { type Static, Type } from 'typebox';

const PLAIN = { additionalProperties: false } as const;
const NAME = '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$';

/** The name of an upstream, and of a rule. */
export const ProxyWord = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' });

/** The methods that the vault proxy passes on. */
export type ProxyMethod = Static<typeof ProxyMethod>;
export const ProxyMethod = Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** The tool that a request through the proxy stands for. It is enforced before anything is sent. */
export type ProxyTool = Static<typeof ProxyTool>;
export const ProxyTool = Type.Object(
  {
    connector: Type.String({ pattern: NAME }),
    tool: Type.String({ pattern: NAME }),
    /** `{name}`, a segment of the rule's path. */
    resource: Type.Optional(Type.String({ pattern: '^\\{[a-z][a-z0-9_]{0,63}\\}$' })),
    /** A JSON pointer into the body. */
    amount: Type.Optional(Type.String({ maxLength: 256, pattern: '^(/[^/]*)*$' })),
    body: Type.Optional(Type.Enum(['json', 'stream', 'none'])),
  },
  PLAIN,
);

/** A kind of request that the vault proxy passes on. It refuses all others. */
export type ProxyRule = Static<typeof ProxyRule>;
export const ProxyRule = Type.Object(
  {
    id: ProxyWord,
    methods: Type.Array(ProxyMethod, { minItems: 1, maxItems: 6 }),
    upstream: Type.Optional(ProxyWord),
    path: Type.String({ minLength: 1, maxLength: 1024 }),
    /** The only parameters of the query; null or absent allows any. */
    query: Type.Optional(
      Type.Union([Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 50 }), Type.Null()]),
    ),
    tool: Type.Optional(ProxyTool),
    /** Whether `Range` is passed on. Never with a credential that is for the proxy alone. */
    range: Type.Optional(Type.Boolean()),
    /** The request stands for no tool. Exactly one of `tool` and `unmapped` is there. */
    unmapped: Type.Optional(Type.Literal(true)),
  },
  PLAIN,
);

/** The limits of a credential in the proxy, in addition to those of its service. */
export type ProxyLimits = Static<typeof ProxyLimits>;
export const ProxyLimits = Type.Object(
  {
    upstreams: Type.Optional(Type.Array(ProxyWord, { minItems: 1, maxItems: 5 })),
    rules: Type.Optional(Type.Array(ProxyRule, { minItems: 1, maxItems: 100 })),
    /** Whether the credential serves the proxy alone, and no agent gets it by exchange. */
    only: Type.Optional(Type.Boolean()),
  },
  PLAIN,
);
