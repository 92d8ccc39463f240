import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Opens an address in the person's browser. @returns false where no browser could be started */
export async function openInBrowser(address: string): Promise<boolean> {
  const { protocol } = new URL(address);
  if (protocol !== 'https:' && protocol !== 'http:') return false;
  const [program, ...args] = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[
    String(process.platform)
  ] ?? ['xdg-open'];
  const child = spawn(program ?? 'xdg-open', [...args, address], { stdio: 'ignore', detached: true });
  const started = once(child, 'spawn').then(
    () => true,
    () => false,
  );
  child.unref();
  return started;
}
