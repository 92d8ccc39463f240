import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Count = Type.Integer({ minimum: 0 });
const Plan = Type.Enum(['free', 'pro', 'enterprise']);

export type DeploymentStats = Static<typeof DeploymentStats>;
export const DeploymentStats = Type.Object({
  totalDevelopers: Count,
  /** Developers who signed up within the time. */
  last24h: Count,
  last7d: Count,
  last30d: Count,
  byMode: Type.Object({ live: Count, sandbox: Count }),
  totalAgents: Count,
  totalGrants: Count,
});

export type DeveloperListQuery = Static<typeof DeveloperListQuery>;
export const DeveloperListQuery = Type.Object(pageQuery('dev'));

export type DeveloperPage = Static<typeof DeveloperPage>;
export const DeveloperPage = Type.Object({
  developers: Type.Array(
    Type.Object({
      id: Id,
      name: Type.String(),
      email: Type.Union([Type.String(), Type.Null()]),
      mode: Type.Enum(['live', 'sandbox']),
      createdAt: Time,
    }),
  ),
  nextCursor: NextCursor,
});

export const DeveloperPath = Type.Object({ id: Id });
export type DeveloperPlanChange = Static<typeof DeveloperPlanChange>;
export const DeveloperPlanChange = Type.Object({ plan: Plan }, { additionalProperties: false });
export type DeveloperPlan = Static<typeof DeveloperPlan>;
export const DeveloperPlan = Type.Object({ developerId: Id, plan: Plan });
