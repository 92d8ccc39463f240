import type { Group } from '../spec.ts';

export const START: readonly Group[] = [
  {
    name: 'dev',
    isMain: true,
    summary: 'run the service on this machine',
    load: async () => (await import('../../commands/dev.ts')).DEV,
  },
  {
    name: 'demo',
    isMain: true,
    summary: 'play the life of a grant',
    load: async () => (await import('../../commands/demo.ts')).DEMO,
  },
  {
    name: 'init',
    isMain: true,
    summary: 'write an example that runs',
    load: async () => (await import('../../commands/init.ts')).INIT,
  },
  {
    name: 'signup',
    isMain: true,
    summary: 'open an account, and keep its key in a profile',
    load: async () => (await import('../../commands/signup.ts')).SIGNUP,
  },
  {
    name: 'login',
    isMain: true,
    summary: 'check an API key, and keep it in a profile',
    load: async () => (await import('../../commands/login.ts')).LOGIN,
  },
  {
    name: 'doctor',
    isMain: true,
    summary: 'look for what is wrong',
    load: async () => (await import('../../commands/doctor.ts')).DOCTOR,
  },
  {
    name: 'config',
    summary: 'profiles: addresses and keys',
    load: async () => (await import('../../commands/config.ts')).CONFIG,
  },
  {
    name: 'me',
    hasOperations: true,
    summary: 'the account of the key',
    load: async () => (await import('../../commands/me.ts')).ME,
  },
  {
    name: 'whoami',
    summary: 'which account the commands act for',
    load: async () => (await import('../../commands/login.ts')).WHOAMI,
  },
  {
    name: 'console',
    summary: 'open the console, signed in',
    load: async () => (await import('../../commands/console.ts')).CONSOLE,
  },
  {
    name: 'open',
    summary: 'open a page in the browser',
    load: async () => (await import('../../commands/open.ts')).OPEN,
  },
  {
    name: 'completion',
    summary: 'a script that completes commands in a shell',
    load: async () => (await import('../../commands/completion.ts')).COMPLETION,
  },
  {
    name: 'help',
    summary: 'explain a topic',
    load: async () => (await import('../../commands/help.ts')).HELP,
  },
];
