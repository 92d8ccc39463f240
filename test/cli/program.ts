import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import type { Io } from '../../packages/cli/src/context.ts';
import { main } from '../../packages/cli/src/main.ts';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Machine {
  /** The folder in which the program runs, which is empty at first. */
  readonly folder: string;
  readonly configFile: string;
  /** Runs the program in this process. */
  run(argv: readonly string[], more?: Around): Promise<Ran>;
}

interface Around {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The answers of the person at the terminal. Without them there is no terminal. */
  readonly answers?: readonly string[];
  readonly fetch?: typeof fetch;
  /** Takes the address that a browser would open. Without it there is no browser. */
  readonly browse?: (address: string) => void;
  readonly signal?: AbortSignal;
  /** Hears of what the program has written so far. */
  readonly heard?: (out: string, err: string) => void;
}

/** A machine with a home and a folder of its own. @param env what every run there finds */
export function newMachine(env: Readonly<Record<string, string>> = {}): Machine {
  const home = mkdtempSync(join(tmpdir(), 'behest-cli-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const configFile = join(home, '.behest', 'config.json');
  return {
    folder: home,
    configFile,
    async run(argv, around = {}) {
      const said = { out: '', err: '' };
      const answers = [...(around.answers ?? [])];
      const isTerminal = around.answers !== undefined;
      const write = (stream: 'out' | 'err') => (text: string) => {
        said[stream] += text;
        around.heard?.(said.out, said.err);
      };
      const io: Io = {
        env: { ...env, ...around.env },
        ...{ folder: home, home, fetch: around.fetch ?? fetch },
        signal: around.signal ?? new AbortController().signal,
        isTerminal: { input: isTerminal, output: isTerminal, errors: isTerminal },
        input: async () => around.input ?? '',
        out: write('out'),
        err: write('err'),
        browse: async (address) => {
          around.browse?.(address);
          return around.browse !== undefined;
        },
        ask: async (question) => {
          said.err += question;
          return answers.shift() ?? '';
        },
      };
      const code = await main(argv, io);
      return { code, ...said };
    },
  };
}

/** A service for the tests of a file. Its clock starts now. */
export function useService(): { readonly url: string } {
  let service: Awaited<ReturnType<typeof startListening>>;
  beforeAll(async () => {
    service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  });
  afterAll(async () => {
    service?.app.server.closeAllConnections();
    await service?.stop();
  });
  return {
    get url() {
      return service.url;
    },
  };
}

/** A service with a sandbox account. `signedIn` gives a machine that has the account's key. */
export function useAccount(): { readonly url: string; readonly apiKey: string; signedIn(): Machine } {
  const service = useService();
  let apiKey: string;
  beforeAll(async () => {
    ({ apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url }));
  });
  return {
    get url() {
      return service.url;
    },
    get apiKey() {
      return apiKey;
    },
    signedIn: () => newMachine({ BEHEST_URL: service.url, BEHEST_API_KEY: apiKey }),
  };
}
