import { demand, type Operation } from './load.ts';

/** One use of the service, measured with many at once. */
export interface Flow {
  readonly name: string;
  /** The name of one operation. */
  readonly unit: string;
  /** The route that shows what the same work costs without the service. */
  readonly floor: Floor;
  /** The least share of the floor's rate that satisfies. */
  readonly aim: number;
  /** The native flow that does the same, which is measured in the same run. */
  readonly beside?: string;
  /** Runs before each round, unmeasured. */
  readonly prepare?: () => Promise<void>;
  readonly operation: (connection: number) => Operation;
}

/** The routes of `floor-server.ts`, each with the name that the results give it. */
export const floors = {
  bare: 'bare route',
  select: 'Redis and a prepared select',
  verify: 'Redis, a prepared select and an RSA verification',
  append: 'one statement that appends to a chain',
  unseal: 'a prepared select, AES-GCM, and one statement that appends to a chain',
  sign: 'four rows in one statement and a pooled RSA signature',
} as const;

export type Floor = keyof typeof floors;

/** @param developers each has a chain of its own */
export function floorOperation(floor: Floor, developers: number) {
  return (connection: number): Operation => {
    const hasChain = floor === 'append' || floor === 'unseal';
    const path = hasChain ? `/${floor}/d${connection % developers}` : `/${floor}`;
    return (client) => demand(client, { method: 'GET', path }, 200);
  };
}
