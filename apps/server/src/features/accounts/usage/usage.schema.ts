import { Id } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Count = Type.Integer({ minimum: 0 });

const counts = {
  tokenExchanges: Count,
  authorizations: Count,
  verifications: Count,
  /** The sum of the three. */
  totalRequests: Count,
};

const Limit = Type.Union([Count, Type.Null()]);

export type Usage = Static<typeof Usage>;
export const Usage = Type.Object({
  developerId: Id,
  /** The day, UTC: `2026-02-01`. */
  period: Type.String(),
  ...counts,
  plan: Type.Enum(['free', 'pro', 'enterprise']),
  /** Null where the plan has none. */
  limits: Type.Object({ tokenExchangesPerMonth: Limit, authorizationsPerMonth: Limit }),
  month: Type.Object({ period: Type.String(), ...counts }),
});

export type UsageCounts = Static<typeof UsageCounts>;
const UsageCounts = Type.Object(counts);

const UsageDay = Type.Object({
  date: Type.String(),
  ...counts,
  proxyCalls: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Calls through the vault proxy that an upstream answered, whatever its status; outside `totalRequests`. In every entry of an answer whose days have such a call, and in none of another.',
    }),
  ),
});

export const HistoryQuery = Type.Object({ days: Type.Optional(Type.String()) });

export type UsageHistory = Static<typeof UsageHistory>;
export const UsageHistory = Type.Object({
  developerId: Id,
  days: Type.Integer(),
  entries: Type.Array(UsageDay),
});
