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

export type UsageDay = Static<typeof UsageDay>;
export const UsageDay = Type.Object({ date: Type.String(), ...counts });

export const HistoryQuery = Type.Object({ days: Type.Optional(Type.String()) });

export type UsageHistory = Static<typeof UsageHistory>;
export const UsageHistory = Type.Object({
  developerId: Id,
  days: Type.Integer(),
  entries: Type.Array(UsageDay),
});
