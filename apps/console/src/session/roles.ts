import { sayer } from '../messages/language.ts';
import { useSession } from './session.ts';

const say = sayer('members');

/** The least role that has a capability. */
const LEAST = {
  export: 'auditor',
  operate: 'operator',
  configure: 'admin',
  people: 'admin',
  govern: 'owner',
  own: 'owner',
} as const;

export type Capability = keyof typeof LEAST;

/** @returns the role to ask for where the session lacks a capability, undefined where it has it or none is needed */
export function useRoleNeeded(capability: Capability | undefined): string | undefined {
  const { capabilities } = useSession();
  if (capability === undefined || capabilities.includes(capability)) return undefined;
  return say(LEAST[capability]);
}
