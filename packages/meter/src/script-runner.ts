import { sha1 } from '@noble/hashes/legacy.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { strange } from './bounded.ts';
import type { Send } from './redis-client.ts';
import { script } from './redis-script.ts';

/** Runs the script by its hash, and sends its text once a server does not know it. */
export function scriptRunner(send: Send) {
  const hash = bytesToHex(sha1(utf8ToBytes(script))); // the name that Redis gives a script
  const command = (name: string, what: string, keys: readonly string[], args: readonly string[]) =>
    send([name, what, String(keys.length), ...keys, ...args], keys[0] ?? '');

  return async (keys: readonly string[], args: readonly string[]): Promise<readonly string[]> => {
    let answer: unknown;
    try {
      answer = await command('EVALSHA', hash, keys, args);
    } catch (error) {
      if (!String(error).includes('NOSCRIPT')) throw error;
      answer = await command('EVAL', script, keys, args); // the script has not run: nothing was charged
    }
    if (!Array.isArray(answer)) throw strange();
    return answer.map(String);
  };
}
