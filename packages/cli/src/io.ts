import { homedir } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/** The world around the program. Tests replace it. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly folder: string;
  readonly home: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly isTerminal: { readonly input: boolean; readonly output: boolean; readonly errors: boolean };
  /** Reads standard input to its end. */
  readonly input: () => Promise<string>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks the person at the terminal. A hidden answer, such as a key, is not shown while it is typed. */
  readonly ask: (question: string, how?: { readonly isHidden: boolean }) => Promise<string>;
  /** Opens an address in the person's browser. @returns false where no browser could be started */
  readonly browse: (address: string) => Promise<boolean>;
}

export function processIo(signal: AbortSignal): Io {
  return {
    // biome-ignore lint/style/noProcessEnv: the program reads its environment here alone
    env: process.env,
    folder: process.cwd(),
    home: homedir(),
    fetch: (...args) => fetch(...args),
    signal,
    isTerminal: {
      input: process.stdin.isTTY === true,
      output: process.stdout.isTTY === true,
      errors: process.stderr.isTTY === true,
    },
    input: async () => {
      const parts: Buffer[] = [];
      for await (const part of process.stdin) parts.push(Buffer.from(part));
      return Buffer.concat(parts).toString('utf8');
    },
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    ask: async (question, { isHidden } = { isHidden: false }) => {
      // `readline` itself writes what is typed, so a hidden answer needs an output that writes nothing.
      const output = isHidden ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
      if (isHidden) process.stderr.write(question);
      const lines = createInterface({ input: process.stdin, output, terminal: process.stdin.isTTY === true });
      try {
        return await lines.question(question, { signal });
      } finally {
        lines.close();
        if (isHidden) process.stderr.write('\n');
      }
    },
    browse: async (address) => (await import('./system/browser.ts')).openInBrowser(address),
  };
}
