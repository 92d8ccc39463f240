import type { Io } from '../io.ts';
import { type Profile, readUserConfig, userFile, writeUserConfig } from './user-file.ts';

type Changes = { readonly [Name in keyof Profile]?: Profile[Name] | undefined };

/** Changes a profile in the file, or adds it. The first profile becomes the current one. */
export function keepProfile(io: Pick<Io, 'env' | 'home'>, name: string, changes: Changes): void {
  const file = userFile(io);
  const config = readUserConfig(file);
  const merged = Object.entries({ ...config.profiles[name], ...changes }).filter(
    ([, value]) => value !== undefined,
  );
  const isFirst = Object.keys(config.profiles).length === 0;
  writeUserConfig(file, {
    current: isFirst ? name : config.current,
    profiles: { ...config.profiles, [name]: Object.fromEntries(merged) },
  });
}
