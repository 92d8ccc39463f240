import { coversRead, type ReadScope, readScope } from '@behest/protocol/scopes';
import { overlaps } from './policies.scopes.rules.ts';

/** A policy as it is evaluated. A condition that is null holds always. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly effect: 'allow' | 'deny';
  readonly priority: number;
  readonly agentId: string | null;
  readonly principalId: string | null;
  readonly scopes: readonly string[] | null;
  /** Minutes of the day in UTC; both or none. */
  readonly dayStart: number | null;
  readonly dayEnd: number | null;
  readonly createdAt: Date;
}

/** The request that policies are asked about. */
export interface Asked {
  readonly agentId: string;
  readonly principalId: string;
  readonly scopes: readonly string[];
  readonly at: Date;
}

/** A request with its parts parsed once for all policies. */
export interface ReadAsked extends Asked {
  readonly read: readonly ReadScope[];
  readonly minute: number;
}

export const readAsked = (asked: Asked): ReadAsked => ({
  ...asked,
  read: asked.scopes.map(readScope),
  minute: asked.at.getUTCHours() * 60 + asked.at.getUTCMinutes(),
});

export interface Window {
  readonly dayStart: number | null;
  readonly dayEnd: number | null;
}

/** The start is inside, and the end is not. A window whose start is after its end goes past midnight. */
export function isDuring({ dayStart, dayEnd }: Window, minute: number): boolean {
  if (dayStart === null || dayEnd === null) return true;
  if (dayStart < dayEnd) return minute >= dayStart && minute < dayEnd;
  return minute >= dayStart || minute < dayEnd;
}

/** Whether the scopes of a policy match: of a denial one is enough, and of a permission all have to be covered. */
export function scopesMatch(
  effect: Policy['effect'],
  own: readonly ReadScope[] | null,
  asked: readonly ReadScope[],
): boolean {
  if (own === null) return true;
  if (effect === 'deny') return asked.some((scope) => own.some((denied) => overlaps(denied, scope)));
  return asked.every((scope) => own.some((allowed) => coversRead(allowed, scope)));
}

/** The order of evaluation. The first policy that matches decides. */
export function compareOrder(one: Policy, other: Policy): number {
  if (one.priority !== other.priority) return other.priority - one.priority;
  if (one.effect !== other.effect) return one.effect === 'deny' ? -1 : 1;
  const [made, otherMade] = [one.createdAt.getTime(), other.createdAt.getTime()];
  if (made !== otherMade) return made - otherMade;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
