import type { Send } from './redis-client.ts';

/** What a Redis says of itself, as far as a meter has to know it. */
export interface RedisSettings {
  readonly version: string;
  readonly problems: readonly string[];
}

const OLDEST = 6;

/**
 * Reads the settings with which a Redis could lose counters.
 *
 * @param isVouchedFor whether the operator vouches for them where `INFO` is forbidden
 */
export async function readSettings(send: Send, key: string, isVouchedFor: boolean): Promise<RedisSettings> {
  let info: string;
  try {
    const answers = [await send(['INFO', 'server'], key), await send(['INFO', 'memory'], key)];
    info = answers.map(String).join('\n');
  } catch (error) {
    if (!/NOPERM|unknown command/i.test(String(error))) throw error;
    if (isVouchedFor) return { version: '', problems: [] };
    return { version: '', problems: ['INFO is forbidden, so the settings of Redis are not known'] };
  }
  const version = /^redis_version:(\S+)/m.exec(info)?.[1] ?? '';
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'unknown';
  const problems: string[] = [];
  if (!(Number.parseInt(version, 10) >= OLDEST)) problems.push(`Redis ${version} is older than ${OLDEST}.0`);
  if (policy !== 'noeviction') problems.push(`maxmemory-policy is ${policy}, and has to be noeviction`);
  return { version, problems };
}
