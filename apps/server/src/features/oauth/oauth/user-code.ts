import { createHmac, randomInt } from 'node:crypto';
import type { KeyRing } from '../../service/keys/index.ts';
import type { DeviceForm } from './channel.schema.ts';
import type { FlowDeps } from './flow.ts';
import { secondsLeft } from './flow.ts';

export const USER_CODE_KEY_USE = 'behest/user-code/v1';

/** Neither vowels, so that no code is a word, nor letters that look like others (RFC 8628 §6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/** The request of a device that waits for its person to enter the code. */
export interface Waiting {
  readonly flowId: string;
  readonly developerId: string;
  readonly clientId: string;
  readonly form: DeviceForm;
  /** Null where the person says at this browser who they are. */
  readonly principalId: string | null;
  /** The id that the request will have, once the developer's application was told it. */
  readonly requestId?: string;
  /** In ISO 8601. */
  readonly expiresAt: string;
}

interface CodeDeps extends FlowDeps {
  readonly keyRing: KeyRing;
}

/** @example `BCDF-GHJK` */
export function newUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return shown(letters);
}

const shown = (letters: string) => `${letters.slice(0, 4)}-${letters.slice(4)}`;

/** Case and everything but letters do not matter. @returns undefined for a text that is no code */
export function readUserCode(text: string): string | undefined {
  const letters = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return letters.length === LENGTH && [...letters].every((letter) => LETTERS.includes(letter))
    ? shown(letters)
    : undefined;
}

/** A code is short, so its plain hash would tell it to a reader of the store. */
function keyOf({ keyRing }: CodeDeps, userCode: string): string {
  const { current } = keyRing.derive(USER_CODE_KEY_USE);
  return `bh:{user-code:${createHmac('sha256', current).update(userCode).digest('base64url')}}`;
}

export async function keepWaiting(deps: CodeDeps, userCode: string, waiting: Waiting): Promise<void> {
  const seconds = secondsLeft(waiting, deps.clock());
  await deps.store.put([{ key: keyOf(deps, userCode), value: JSON.stringify(waiting), seconds }]);
}

export async function findWaiting(deps: CodeDeps, userCode: string): Promise<Waiting | undefined> {
  const found = await deps.store.get(keyOf(deps, userCode));
  const waiting: Waiting | undefined = found === undefined ? undefined : JSON.parse(found);
  return waiting && new Date(waiting.expiresAt) > deps.clock() ? waiting : undefined;
}

export const forgetWaiting = (deps: CodeDeps, userCode: string): Promise<void> =>
  deps.store.remove(keyOf(deps, userCode));
