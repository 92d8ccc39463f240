import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Installs the packages once, even when two commands start together on a fresh clone: the second waits for the
 * first.
 */
export async function ensureInstalled(root) {
  if (isReady(root)) return;
  const release = await takeTurn(path.join(root, '.install-lock'));
  try {
    if (isReady(root)) return;
    await install(root, release.child);
    fs.writeFileSync(stampFile(root), stamp(root));
  } finally {
    release();
  }
}

/** Compares the project's own mark, or, after an npm started by hand, npm's own record. */
function isReady(root) {
  const file = stampFile(root);
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === stamp(root)) return true;
  return isInstalled(root);
}

function stampFile(root) {
  return path.join(root, 'node_modules/.behest-stamp');
}

function stamp(root) {
  const lock = fs.readFileSync(path.join(root, 'package-lock.json'));
  return createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
}

/**
 * @returns a function that ends the turn. Its `child` names the working process, which may outlive
 * this one.
 */
async function takeTurn(folder) {
  const file = path.join(folder, 'pids');
  for (let waited = false; ; waited = true) {
    try {
      fs.mkdirSync(folder);
      fs.writeFileSync(file, `${process.pid}`);
      const release = () => fs.rmSync(folder, { recursive: true, force: true });
      return Object.assign(release, { child: (pid) => fs.writeFileSync(file, `${process.pid} ${pid}`) });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned(folder, file)) fs.rmSync(folder, { recursive: true, force: true });
    else if (!waited) say('Another command is installing the dependencies; waiting for it…');
    await sleep(250);
  }
}

const MAKING = 5_000; // milliseconds that a command may take between the folder and the file in it

function isAbandoned(folder, file) {
  try {
    return !fs.readFileSync(file, 'utf8').split(' ').some(isAlive);
  } catch {
    const made = fs.statSync(folder, { throwIfNoEntry: false })?.mtimeMs;
    return made !== undefined && Date.now() - made > MAKING;
  }
}

function isAlive(pid) {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function install(root, noteChild) {
  const endProgress = showProgress(root);
  const { problem, output } = await runNpm(root, noteChild);
  endProgress();
  if (problem) throw new Error(`npm ci ${problem}\n${output}`);
}

async function runNpm(root, noteChild) {
  const [program, ...first] = npmCommand();
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional'];
  const { NODE_ENV: _, ...env } = process.env; // `production` would omit the toolchain
  const npm = spawn(program, [...first, 'ci', ...flags, '--loglevel=error'], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  noteChild(npm.pid);
  let output = '';
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const end = () => npm.kill('SIGKILL'); // npm heeds no other signal; the next command begins with a clean folder
  for (const name of SIGNALS) process.on(name, end);
  const problem = await new Promise((resolve) => {
    npm.once('error', (error) => resolve(error.message));
    npm.once('close', (code, signal) => resolve(code === 0 ? '' : `ended with ${signal ?? code}`));
  });
  for (const name of SIGNALS) process.off(name, end);
  return { problem, output };
}

/** Finds the npm that runs this command. `npm_execpath` may name another package manager. */
function npmCommand() {
  const script = process.env.npm_execpath ?? '';
  return script.endsWith('npm-cli.js') ? [process.execPath, script] : ['npm'];
}

function showProgress(root) {
  const packages = wantedPackages(root);
  const started = Date.now();
  const state = () => {
    const there = packages.filter((at) => fs.existsSync(path.join(root, at, 'package.json'))).length;
    const seconds = Math.round((Date.now() - started) / 1000);
    return { there, seconds };
  };
  const isTerminal = process.stderr.isTTY;
  say(`Installing ${packages.length} packages, once per lock file…`);
  const timer = setInterval(
    () => {
      const { there, seconds } = state();
      const step = there === 0 ? 'asking for what is needed' : `${there} of ${packages.length} unpacked`;
      if (isTerminal) process.stderr.write(`\r\x1b[K  ${seconds} s: ${step}`);
      else say(`  ${seconds} s: ${step}`);
    },
    isTerminal ? 250 : 10_000,
  );
  return () => {
    clearInterval(timer);
    if (isTerminal) process.stderr.write('\r\x1b[K');
    const { there, seconds } = state();
    say(`${there} of ${packages.length} packages are there after ${seconds} s.`);
  };
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Lists the paths of all packages that npm certainly unpacks on this machine for the lock file. */
function wantedPackages(root) {
  return Object.entries(readLock(path.join(root, 'package-lock.json')))
    .filter(([at, entry]) => at.includes('node_modules/') && !entry.link && isForUs(entry))
    .map(([at]) => at);
}

/** Tells whether npm's record of the unpacked packages, which it writes last, agrees with the lock file. */
function isInstalled(root) {
  const there = readLock(path.join(root, 'node_modules/.package-lock.json'));
  const wanted = readLock(path.join(root, 'package-lock.json'));
  return wantedPackages(root).every(
    (at) => there[at]?.version === wanted[at].version && there[at]?.integrity === wanted[at].integrity,
  );
}

function readLock(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).packages : {};
}

/**
 * Tells whether npm certainly installs an optional package: the package is for this system, and has no `libc`,
 * where npm chooses between two packages.
 */
function isForUs({ optional, os, cpu, libc }) {
  if (!optional) return true;
  return os?.includes(process.platform) && cpu?.includes(process.arch) && !libc;
}
