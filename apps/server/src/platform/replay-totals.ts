import { type Static, Type } from 'typebox';

const Count = Type.Integer({ minimum: 0 });
const counts = {
  newlyDenied: Count,
  newlyAllowed: Count,
  newlyWaiting: Type.Integer({ minimum: 0, description: 'Those for which a person has to decide.' }),
};

const none: ReplayTotals = { newlyDenied: 0, newlyAllowed: 0, newlyWaiting: 0 };

/** How many recorded decisions a draft turns round. */
export type ReplayTotals = Static<typeof ReplayTotals>;
export const ReplayTotals = Type.Object(counts);

const MAX_NAMED = 100;
const description = `Those with the most changes first, at most ${MAX_NAMED}.`;

/** Whom the changes concern. */
export const replayedFor = {
  agents: Type.Array(Type.Object({ agentId: Type.String(), ...counts }), { description }),
  principals: Type.Array(Type.Object({ principalId: Type.String(), ...counts }), { description }),
};

/** Counts the changes of a replay, in all, by agent and by person. */
export function replayCounts() {
  const totals: ReplayTotals = { ...none };
  const byAgent = new Map<string, ReplayTotals>();
  const byPrincipal = new Map<string, ReplayTotals>();
  return {
    totals,
    add(
      { agentId, principalId }: { readonly agentId: string | null; readonly principalId: string | null },
      kind: keyof ReplayTotals,
    ): void {
      totals[kind] += 1;
      count(byAgent, agentId, kind);
      count(byPrincipal, principalId, kind);
    },
    named: () => ({
      agents: mostChanged(byAgent).map(([agentId, counted]) => ({ agentId, ...counted })),
      principals: mostChanged(byPrincipal).map(([principalId, counted]) => ({ principalId, ...counted })),
    }),
  };
}

function count(all: Map<string, ReplayTotals>, id: string | null, kind: keyof ReplayTotals): void {
  if (id === null) return;
  const counted = all.get(id) ?? { ...none };
  counted[kind] += 1;
  all.set(id, counted);
}

const mostChanged = (all: ReadonlyMap<string, ReplayTotals>) =>
  [...all].toSorted(([, one], [, other]) => sumOf(other) - sumOf(one)).slice(0, MAX_NAMED);

const sumOf = ({ newlyDenied, newlyAllowed, newlyWaiting }: ReplayTotals) =>
  newlyDenied + newlyAllowed + newlyWaiting;
