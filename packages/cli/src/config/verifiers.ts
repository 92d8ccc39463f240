import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Io } from '../context.ts';
import { isRecord, userFile } from './user-file.ts';

const fileOf = (io: Pick<Io, 'env' | 'home'>) => join(dirname(userFile(io)), 'pkce.json');

/** Keeps the verifier of the newest request of an agent, so that `tokens exchange` finds it. */
export function keepVerifier(io: Pick<Io, 'env' | 'home'>, agentId: string, verifier: string): void {
  const file = fileOf(io);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  write(file, { ...kept(file), [agentId]: verifier });
}

export const findVerifier = (io: Pick<Io, 'env' | 'home'>, agentId: string): string | undefined =>
  kept(fileOf(io))[agentId];

/** A verifier serves one exchange. */
export function forgetVerifier(io: Pick<Io, 'env' | 'home'>, agentId: string): void {
  const { [agentId]: used, ...others } = kept(fileOf(io));
  if (used === undefined) return;
  if (Object.keys(others).length > 0) write(fileOf(io), others);
  else rmSync(fileOf(io));
}

function kept(file: string): Readonly<Record<string, string>> {
  if (!existsSync(file)) return {};
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]))
    : {};
}

function write(file: string, verifiers: Readonly<Record<string, string>>): void {
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify(verifiers)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
