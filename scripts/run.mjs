// The entry of every command, also on a fresh clone: it installs the packages of the lock file, then continues
// under the Node that the lock file pins. It is plain JavaScript on Node's own modules, from version 20 on.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './install.mjs';

const NODE_MAJOR = 24;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const modules = path.join(root, 'node_modules');
const [, , task, ...flags] = process.argv;

endWithNpm();
await ensureInstalled(root).catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
runTask(pinnedNode());

function pinnedNode() {
  for (const program of [path.join(modules, '.bin/node'), process.execPath]) {
    if (!fs.existsSync(program)) continue;
    const { stdout } = spawnSync(program, ['-p', 'process.versions.node'], { encoding: 'utf8' });
    if (Number.parseInt(stdout, 10) >= NODE_MAJOR) return program;
  }
  process.stderr.write(
    `Node ${NODE_MAJOR} or later is needed, and this is ${process.version}. It comes with the installed packages on Linux and Windows; elsewhere install it yourself.\n`,
  );
  process.exit(1);
}

function runTask(node) {
  const bin = path.join(modules, '.bin');
  const child = spawn(node, [path.join(root, task), ...flags], {
    cwd: root,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'], // the child sees `disconnect` when this process is killed
    env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH ?? ''}` },
  });
  process.on('SIGINT', () => {}); // Ctrl-C reaches the task directly; this process waits for it
  for (const name of ['SIGTERM', 'SIGHUP']) process.on(name, () => child.kill(name));
  child.once('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/**
 * npm starts this process below a shell that passes on no signal, so a change of parents is the only sign of
 * npm's end.
 */
function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const line = ancestors();
  const watch = setInterval(() => {
    if (ancestors() === line) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  watch.unref();
}

/** Lists the parent, and its parent when the first is the shell and not npm. */
function ancestors() {
  const parent = process.ppid;
  try {
    const isShell = fs.readFileSync(`/proc/${parent}/cmdline`, 'utf8').includes('\0-c\0');
    const [, , next] = fs.readFileSync(`/proc/${parent}/stat`, 'utf8').replace(/^.*\)/, ')').split(' ');
    return isShell ? `${parent} ${next}` : `${parent}`;
  } catch {
    return `${parent}`; // no /proc on this system
  }
}
