import type { CapsMeter } from '@behest/sdk/enforce';

/**
 * A meter whose counters begin empty. The meter in memory refuses to serve in production, where several processes would
 * count for themselves; this program asks once and ends.
 */
export async function emptyMeter(): Promise<CapsMeter> {
  const { memoryMeter } = await import('@behest/sdk/enforce');
  // biome-ignore lint/style/noProcessEnv: the meter reads the variable itself
  const env = process.env;
  const { NODE_ENV } = env;
  env.NODE_ENV = 'development';
  try {
    return memoryMeter();
  } finally {
    if (NODE_ENV === undefined) Reflect.deleteProperty(env, 'NODE_ENV');
    else env.NODE_ENV = NODE_ENV;
  }
}
