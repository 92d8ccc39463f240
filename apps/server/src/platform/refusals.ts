import type { Tenant } from './caller.ts';

/** A refused request. Its sender wrote nothing of it but its id and that of an agent. */
export interface Refusal {
  readonly requestId: string;
  readonly operationId: string;
  readonly method: string;
  /** The pattern of the path. */
  readonly route: string;
  readonly status: number;
  readonly code: string;
  readonly subReason: string | null;
  readonly agentId: string | null;
  readonly keyId: string | null;
  readonly durationMs: number;
}

/** Notes a refusal for its account. Never waits and never fails. */
export type NoteRefusal = (tenant: Tenant, refusal: Refusal) => void;
