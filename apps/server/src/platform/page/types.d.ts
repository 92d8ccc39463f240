/** What all pages' scripts hand to each other. Nothing here is served. */

export type Part = string | number | Node;
export type Child = Part | false | null | undefined | Child[];
export type Attributes = Record<string, string | boolean | undefined>;

/** What the service says when it refuses. */
export interface Refusal {
  status: number;
  code?: string;
  message?: string;
  requestId?: string;
  details?: { status?: string };
}

/** On the page of a decision only. */
export type ConsentProblem = 'over' | 'proof' | 'policy' | 'sso' | 'replaced';

/** What can go wrong, by what a person can do about it. */
export interface Problem {
  /** `away`: certainly nothing happened. `uncertain`: it may have. */
  kind: 'busy' | 'away' | 'uncertain' | 'noSession' | 'unknown' | 'refused' | ConsentProblem;
  /** How a request that is over has ended. */
  status?: string;
  /** To wait before trying again. */
  seconds?: number;
  /** The failed call's id. */
  reference?: string;
}

export type Answer<Body> = { ok: true; body: Body } | { ok: false; problem: Problem };
